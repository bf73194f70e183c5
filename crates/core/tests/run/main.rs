//! The run through its front door: a real store, a scripted executor that counts its calls.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod audit;
mod cancellation;
mod changes;
mod composition;
mod context;
mod endings;
mod faults;
mod file_skills;
mod gates;
mod grants;
mod hostile;
mod idempotency;
mod probes;
mod support;
