//! `recall_context`.

use belljar_core::refusal::Refusal;
use belljar_core::service::{ContextRequest, ContextScope};
use rmcp::model::CallToolResult;

use crate::arguments::Arguments;
use crate::{Server, result};

pub(super) const DESCRIPTION: &str = "\
Gathers what you should know for a task, in no more tokens than max_tokens: the best skills, each with the revision_id to pin, \
the scripts you may run with their parameters, the paragraphs that speak of the task, and how your latest runs ended. Begin \
here.";

/// The most tokens that can be asked for.
const MOST_TOKENS: u32 = 25_000;

/// Gathers context for a task.
pub(super) async fn run(server: &Server, arguments: Arguments) -> Result<CallToolResult, Refusal> {
    let request = parse(arguments)?;
    let envelope = server.inner.belljar.context(&server.inner.caller, &request).await?;
    Ok(result::of(envelope, false))
}

fn parse(mut arguments: Arguments) -> Result<ContextRequest, Refusal> {
    let query = arguments.text("query")?.ok_or_else(|| Refusal::invalid_argument("query", "is missing"))?;
    let limit = arguments.clamped("limit", 5, 20)?;
    let max_items = arguments.clamped("max_items", 20, 100)?;
    let max_tokens = arguments.clamped("max_tokens", 4000, MOST_TOKENS)?;
    let team = arguments.text("team_id")?;
    let scope = match (arguments.text("scope")?.as_deref(), team) {
        (None | Some("all"), None) => ContextScope::All,
        (Some("personal"), None) => ContextScope::Personal,
        (None | Some("team"), Some(team)) => ContextScope::Team(team),
        (Some("team"), None) => return Err(Refusal::invalid_argument("team_id", "is missing: the scope is a team")),
        (Some("all" | "personal"), Some(_)) => {
            return Err(Refusal::invalid_argument("team_id", "goes with the scope `team`"));
        }
        (Some(_), _) => return Err(Refusal::invalid_argument("scope", "expected all, personal or team")),
    };
    let path_filter = arguments.text("path_filter")?.unwrap_or_default();
    let markdown = !arguments.flag("output_json", true)?;
    Ok(ContextRequest { query, limit, max_items, max_tokens, scope, path_filter, markdown })
}
