//! The protocol's surface through its front door: lines of JSON into a real server over a real store.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod arguments;
mod cancellation;
mod client;
mod codes;
mod execute;
mod inline;
mod protocol;
mod recall;
mod save;
mod scope;
mod world;
