//! What a call would do, without doing it.

use belljar_executor::{Digest, ExecutionRequest};

use super::Belljar;
use crate::caller::Caller;
use crate::code::Reason;
use crate::refusal::Refusal;
use crate::run::{Call, Stop, preview, resolve};
use crate::skill::Edition;

/// What a call would do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The pin of what would run.
    pub pin: Option<Digest>,
    /// The skill at the files that would run.
    pub edition: Edition,
    /// The first closed gate; none when the call would run.
    pub closed: Option<Reason>,
    /// What the executor would get; none while the language is not allowed.
    pub request: Option<ExecutionRequest>,
}

impl Belljar {
    /// Resolves a call and walks the gates; audits nothing and starts nothing.
    ///
    /// # Errors
    /// The refusal that the call would get while it is resolved.
    pub async fn plan(&self, caller: &Caller, call: Call) -> Result<Plan, Refusal> {
        let resolved = resolve(&self.world, caller.clone(), call).await.map_err(|stop| match stop {
            Stop::Refused(refusal) | Stop::AccessDenied { refusal, .. } => refusal,
            Stop::Denied(denial) => Refusal::denied(denial.reason()),
        })?;
        preview(&self.world, resolved).await
    }
}
