//! The Model Context Protocol surface: the four tools for cloud skills, and what they hand out as resources.
//!
//! It parses what a client sends into calls of the core, shapes the answers, and holds no rule of its own. Nothing else
//! in the workspace names the protocol's library.

mod arguments;
mod handler;
mod instructions;
mod lines;
mod progress;
mod resources;
mod result;
mod serve;
mod tools;

use std::sync::Arc;

use belljar_core::Belljar;
use belljar_core::caller::Caller;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use serve::{ServeError, serve, serve_stdio};

/// What an operator may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    inline_output_bytes: usize,
}

impl Options {
    /// The least and the most bytes of a stream or file that one answer can hold.
    pub const INLINE_OUTPUT_BYTES: std::ops::RangeInclusive<usize> = 1024..=1024 * 1024;

    /// Options with this many bytes of each stream or file in an answer.
    ///
    /// # Errors
    /// What the least and the most are.
    pub fn new(inline_output_bytes: usize) -> Result<Self, String> {
        let range = Self::INLINE_OUTPUT_BYTES;
        if range.contains(&inline_output_bytes) {
            return Ok(Self { inline_output_bytes });
        }
        Err(format!("{inline_output_bytes} is not between {} and {}", range.start(), range.end()))
    }

    /// How many bytes of a stream or file one answer holds at most.
    #[must_use]
    pub const fn inline_output_bytes(self) -> usize {
        self.inline_output_bytes
    }
}

impl Default for Options {
    /// 16 KiB: what common hosts show of a tool's result without cutting it.
    fn default() -> Self {
        Self { inline_output_bytes: 16 * 1024 }
    }
}

/// The tools of one caller. Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Server {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    belljar: Belljar,
    caller: Caller,
    options: Options,
    tools: Vec<rmcp::model::Tool>,
    /// The calls that have not been answered.
    calls: TaskTracker,
    /// Fires once nobody will read answers any more.
    end: CancellationToken,
}

impl Server {
    /// The tools over a service, for a caller whose identity was established.
    #[must_use]
    pub fn new(belljar: Belljar, caller: Caller, options: Options) -> Self {
        let (calls, end, tools) = (TaskTracker::new(), CancellationToken::new(), tools::all());
        Self { inner: Arc::new(Inner { belljar, caller, options, tools, calls, end }) }
    }
}
