//! Executors that each break one clause, and the honest one that they are made from: for whoever tests a
//! harness of their own. They run `sh` without any isolation, and only the contract's own scripts belong there.

#![expect(clippy::unwrap_used, clippy::panic, reason = "these executors exist for tests, which fail by panicking")]

mod defect;
mod reference;
mod streams;
mod traces;

pub use defect::{BROADLY_BROKEN, BROKEN, Defect};
pub use reference::Reference;
