//! SQLite behind the ports of the core.
//!
//! One writer task per process commits in groups: many changes, one `fsync`. A change and its audit
//! entry are one transaction. Several processes may share a store; the head of a chain is read inside
//! the transaction that extends it.

mod audit;
mod connection;
mod error;
mod executions;
mod grants;
mod heads;
mod identity;
mod open;
mod owner;
mod pauses;
mod skills;
mod store;
mod writer;

pub use error::OpenError;
pub use store::{Store, StoreOptions};
