//! The macro, used as a stranger uses it, on the executor without a defect.

use std::sync::Arc;

use belljar_contract::Subject;

use belljar_contract::broken::Reference;

belljar_contract::contract_tests! { strict, Subject::new(Arc::new(Reference::new(None)), "sh") }

mod core_only {
    use super::*;

    belljar_contract::contract_tests! {
        core,
        Subject::new(Arc::new(Reference::new(None)), "sh").skip("shows that everything can be skipped")
    }
}
