//! The four tools: what each takes, and what it answers.

mod context;
mod execute;
mod recall;
mod save;
mod selector;

use std::sync::Arc;

use belljar_core::refusal::Refusal;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, JsonObject, Tool, ToolAnnotations};
use rmcp::service::RequestContext;

use crate::arguments::Arguments;
use crate::{Server, result};

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolName {
    /// Runs a script.
    Execute,
    /// Makes a skill or changes it.
    Save,
    /// Finds skills and reads them.
    Recall,
    /// Gathers what a task needs.
    Context,
}

impl ToolName {
    /// All of them, in the order in which they are listed.
    pub(crate) const ALL: [Self; 4] = [Self::Context, Self::Recall, Self::Execute, Self::Save];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Execute => "execute_cloud_skill",
            Self::Save => "save_cloud_skill",
            Self::Recall => "recall_cloud_skill",
            Self::Context => "recall_context",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }

    const fn schemas(self) -> (&'static str, &'static str) {
        match self {
            Self::Execute => (
                include_str!("../schemas/execute_cloud_skill.input.json"),
                include_str!("../schemas/execute_cloud_skill.output.json"),
            ),
            Self::Save => (
                include_str!("../schemas/save_cloud_skill.input.json"),
                include_str!("../schemas/save_cloud_skill.output.json"),
            ),
            Self::Recall => (
                include_str!("../schemas/recall_cloud_skill.input.json"),
                include_str!("../schemas/recall_cloud_skill.output.json"),
            ),
            Self::Context => (
                include_str!("../schemas/recall_context.input.json"),
                include_str!("../schemas/recall_context.output.json"),
            ),
        }
    }

    fn annotations(self) -> ToolAnnotations {
        // Nothing is changed that was there: revisions are immutable, and a script sees copies and no network.
        let sealed = |title: &str| ToolAnnotations::with_title(title).destructive(false).open_world(false);
        match self {
            Self::Execute => sealed("Execute a skill's script").read_only(false).idempotent(false),
            Self::Save => sealed("Save a skill").read_only(false).idempotent(true),
            Self::Recall => sealed("Recall skills").read_only(true).idempotent(true),
            Self::Context => sealed("Recall context for a task").read_only(true).idempotent(true),
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Execute => execute::DESCRIPTION,
            Self::Save => save::DESCRIPTION,
            Self::Recall => recall::DESCRIPTION,
            Self::Context => context::DESCRIPTION,
        }
    }

    fn tool(self) -> Tool {
        // A schema that cannot be read would take no argument at all; a test reads each.
        let read = |text: &str| Arc::new(serde_json::from_str::<JsonObject>(text).unwrap_or_default());
        let (input, output) = self.schemas();
        let annotations = self.annotations();
        let title = annotations.title.clone().unwrap_or_default();
        Tool::new(self.as_str(), self.description(), read(input))
            .with_title(title)
            .with_raw_output_schema(read(output))
            .with_annotations(annotations)
    }
}

/// All tools, as they are listed.
pub(crate) fn all() -> Vec<Tool> {
    ToolName::ALL.map(ToolName::tool).into()
}

/// Calls a tool.
pub(crate) async fn call(
    server: &Server,
    name: ToolName,
    arguments: Option<JsonObject>,
    context: &RequestContext<RoleServer>,
) -> CallToolResult {
    let schema = server.inner.tools.iter().find(|tool| tool.name == name.as_str()).map(|tool| &tool.input_schema);
    let schema = schema.map(Arc::as_ref).cloned().unwrap_or_default();
    let answered = match Arguments::new(arguments, &schema) {
        Ok(arguments) => answer(server, name, arguments, context).await,
        Err(refusal) => Err(refusal),
    };
    answered.unwrap_or_else(|refusal| result::refused(&refusal))
}

async fn answer(
    server: &Server,
    name: ToolName,
    arguments: Arguments,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, Refusal> {
    match name {
        ToolName::Execute => execute::run(server, arguments, context).await,
        ToolName::Save => save::run(server, arguments).await,
        ToolName::Recall => recall::run(server, arguments).await,
        ToolName::Context => context::run(server, arguments).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_an_object_with_described_properties() {
        for name in ToolName::ALL {
            let tool = name.tool();
            let output = tool.output_schema.unwrap();
            for schema in [&*tool.input_schema, &*output] {
                assert_eq!(schema["type"], "object", "{}", name.as_str());
            }
            assert_eq!(tool.input_schema["additionalProperties"], false);
            for (property, schema) in tool.input_schema["properties"].as_object().unwrap() {
                assert!(schema["description"].is_string(), "{}: {property}", name.as_str());
            }
        }
    }
}
