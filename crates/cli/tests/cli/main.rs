//! The command line through its front door: the real binary, a store and skills of its own.
//!
//! The suite runs as root and as an ordinary user alike. What only one of them can do is skipped by
//! name, and says so.

#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test fails by panicking")]

mod audit;
mod bad_input;
mod changed;
mod config;
mod crash;
mod faults;
mod file_skills;
mod lifecycle;
mod local;
mod mcp;
mod package;
mod pending;
mod run;
mod sandbox;
mod shared;
mod signals;
mod support;
mod terminal;
