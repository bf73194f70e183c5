//! The contract of a store, as tests: whoever puts another database behind the ports of the core
//! ([`belljar_core::ports`]) can show that it keeps what the core builds on.
//!
//! Describe the store as a [`Subject`] and let the macro make one test of each clause:
//!
//! ```no_run
//! # use async_trait::async_trait;
//! # use belljar_core::ports::Ports;
//! # use belljar_store_contract::Subject;
//! # fn fresh_database() -> String { unreachable!() }
//! # async fn connect(_: &str) -> Ports { unreachable!() }
//! struct Database(String);
//!
//! impl Database {
//!     fn empty() -> Self {
//!         Self(fresh_database())
//!     }
//! }
//!
//! #[async_trait]
//! impl Subject for Database {
//!     async fn open(&self) -> Ports {
//!         connect(&self.0).await
//!     }
//! }
//!
//! belljar_store_contract::store_contract!(Database::empty);
//! # fn main() {}
//! ```
//!
//! Every clause gets a subject of its own, whose database is empty. A handle stands for a process: two
//! handles are two processes on one database, and a handle that was ended is a process that died.
//!
//! A clause says what a caller can see through the ports, and nothing about tables, files or locks. No
//! clause depends on time: all moments are stated.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a clause is a test, which says no by panicking")]

mod appending;
mod archiving;
mod chain;
mod closing;
mod expecting;
mod finding;
mod furnished;
mod granting;
mod listing;
mod pausing;
mod pending;
mod publishing;
mod purging;
mod racing;
mod reading;
mod recalling;
mod reopening;
mod repeating;
mod revoking;
mod running;
mod saving;
mod searching;
mod snapshot;
mod subject;
mod tenants;
mod testing;
mod together;
mod values;

pub use subject::Subject;
pub use testing::{Clause, clauses};
