//! The macro, used as an adapter uses it, on the store without a defect.

use crate::memory::Database;

fn honest() -> Database {
    Database::new(None)
}

belljar_store_contract::store_contract!(honest);
