//! What a call would do, without doing it.

use belljar_executor::{Digest, ExecutionRequest};

use super::Belljar;
use crate::caller::Caller;
use crate::code::Reason;
use crate::ids::RevisionId;
use crate::refusal::Refusal;
use crate::run::{Call, Stop, preview, resolve};

/// What a call would do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The pin of what would run.
    pub pin: Option<Digest>,
    /// The revision.
    pub revision_id: RevisionId,
    /// Its number.
    pub revision_number: u32,
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
