//! SQLite behind the ports of the core.
//!
//! ```text
//! ports ──changes──▶ one writer task ──begin immediate · jobs · check files · commit · copy heads──▶ answers
//!       ──reads────▶ a few read-only connections, in parallel
//! ```
//!
//! A change is acknowledged only after its commit reached the disk, together with its audit entry. Many
//! changes that wait at the same moment share one commit (`writer`). Several processes may use one
//! state folder; SQLite's own lock orders their commits.

mod audit;
mod cause;
mod connection;
pub mod crash;
mod error;
mod executions;
mod folder;
mod grants;
mod heads;
mod identity;
mod json;
mod lock;
mod migrations;
mod options;
mod owners;
mod pauses;
mod readers;
mod row;
mod skills;
mod store;
mod system;
mod writer;

pub use error::OpenError;
pub use options::StoreOptions;
pub use store::Store;
pub use system::{SystemClock, UuidIds};
