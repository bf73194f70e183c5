//! The executors that ship with Belljar. Each runs what it is given and decides nothing.

#[cfg(target_os = "linux")]
mod answers;
#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod local;

#[cfg(target_os = "linux")]
pub use belljar_sandbox::{Plan, PlannedMount};
#[cfg(target_os = "linux")]
pub use bubblewrap::{Bubblewrap, BubblewrapOptions};
#[cfg(target_os = "linux")]
pub use local::{Local, LocalOptions};
