//! The contract of an executor, as tests: anyone who implements [`Executor`](belljar_executor::Executor)
//! can show that scripts behave under it as they do under every other.
//!
//! Two levels. [`Level::Core`] is what [`belljar_executor`] lists, promise by promise: every executor does
//! it, and a single failing clause means that scripts will misbehave. [`Level::Strict`] adds what tells a
//! careful executor from a working one; an executor may decline such a clause with a reason, which is
//! printed.
//!
//! Describe the executor as a [`Subject`] and let the macro make one test of each clause:
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use belljar_contract::Subject;
//! # use belljar_executor::{Cancel, ExecutionRequest, Executor, ExecutorError, Outcome};
//! # #[derive(Debug)]
//! # struct Runner;
//! # #[async_trait::async_trait]
//! # impl Executor for Runner {
//! #     fn name(&self) -> &str { "runner" }
//! #     async fn execute(&self, _: ExecutionRequest, _: Cancel) -> Result<Outcome, ExecutorError> {
//! #         Err(ExecutorError::unsupported_origin())
//! #     }
//! # }
//! fn subject() -> Subject {
//!     Subject::new(Arc::new(Runner), "sh").decline("usage_is_told", "the runner does not measure yet")
//! }
//!
//! belljar_contract::contract_tests! { strict, subject() }
//! # fn main() {}
//! ```
//!
//! [`run`] does the same in one call and gives a table. Who runs clauses one by one asks [`Coverage`]
//! whether a newer version of this crate has one more.
//!
//! The scripts are harmless and short. They are POSIX `sh`; an executor for another language brings its
//! own ([`Subject::in_language`], [`Body`]). No clause fails because a machine is a little slow: the
//! bounds are seconds where an executor takes hundredths.

mod body;
#[cfg(all(feature = "broken-executors", target_os = "linux"))]
pub mod broken;
mod clause;
pub mod core;
mod coverage;
mod run;
pub mod strict;
mod subject;
mod testing;
mod trial;
mod verdict;

pub use body::Body;
pub use clause::{Clause, Level};
pub use coverage::{Coverage, CoverageError};
pub use run::{Outcome, Row, run};
pub use subject::Subject;
#[doc(hidden)]
pub use testing::{judge, judge_description};
pub use verdict::{Checked, Deviation, Verdict};
