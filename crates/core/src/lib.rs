//! Whether a skill script may run, and the record of every one that did.
//!
//! The run is a chain of values, each made only from the one before:
//! `resolve → gates → executor ready? → audit → slot → executor → cap → record`.

pub mod audit;
pub mod caller;
pub mod execution;
pub mod grant;
pub mod ids;
pub mod ports;
pub mod skill;
pub mod time;
