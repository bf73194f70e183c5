//! What every store promises, kept by SQLite.

use async_trait::async_trait;
use belljar_core::ports::Ports;
use belljar_store_contract::Subject;
use tempfile::TempDir;

use crate::world::{folder, open};

/// A state folder that goes away. A handle is a store of its own, whose owner lock is free once it is dropped.
struct StateFolder(TempDir);

impl StateFolder {
    fn new() -> Self {
        Self(folder())
    }
}

#[async_trait]
impl Subject for StateFolder {
    async fn open(&self) -> Ports {
        open(self.0.path()).await.ports()
    }
}

belljar_store_contract::store_contract!(StateFolder::new);
