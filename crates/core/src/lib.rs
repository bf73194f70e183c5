//! Whether a skill script may run, and the record of every one that did.
//!
//! The run is a chain of values, each made only from the one before:
//! `resolve → gates → executor ready? → audit → slot → executor → cap → record`. See [`run`].

pub mod audit;
pub mod caller;
pub mod code;
pub mod envelope;
pub mod execution;
pub mod grant;
pub mod health;
pub mod ids;
mod json;
pub mod meter;
pub mod once;
pub mod options;
pub mod pin;
pub mod ports;
pub mod refusal;
pub mod run;
pub mod service;
pub mod skill;
pub mod time;
mod visible;

pub use service::{Belljar, Builder};
pub use visible::visible;
