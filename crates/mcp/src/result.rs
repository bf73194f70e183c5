//! Envelopes as results of tools.

use belljar_core::envelope;
use belljar_core::refusal::Refusal;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

/// An envelope as a result: structured, and the same JSON as a text for clients that read only that.
pub(crate) fn of(envelope: Value, is_error: bool) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(envelope.to_string())]);
    result.structured_content = Some(envelope);
    result.is_error = Some(is_error);
    result
}

/// A refusal as a result: the model can mend what it did wrong, which it cannot with an error of the protocol.
pub(crate) fn refused(refusal: &Refusal) -> CallToolResult {
    of(envelope::error(refusal), true)
}
