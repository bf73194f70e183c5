//! The protocol's requests, handed to the tools and resources.

use belljar_core::refusal::Refusal;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use crate::arguments::{kind_of, shown};
use crate::instructions::INSTRUCTIONS;
use crate::tools::ToolName;
use crate::{Server, resources, result, tools};

/// The methods that this server answers, for requests of them that cannot be read.
const ANSWERED: [&str; 6] =
    ["initialize", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read"];

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let implementation = Implementation::new("belljar", env!("CARGO_PKG_VERSION")).with_title("Belljar");
        ServerConfig::new(capabilities).with_server_info(implementation).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.inner.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.inner.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = named(&request.name)?;
        let _call = self.inner.calls.token();
        Ok(tools::call(self, name, request.arguments, &context).await.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        // Streams of runs are handed out as links, and read by the template: a list of them would help nobody.
        Ok(ListResourcesResult::default())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resources::read(self, &request.uri).await?.into())
    }

    /// What the protocol's library cannot read as a request that it knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        if method != "tools/call" {
            if ANSWERED.contains(&method.as_str()) {
                return Err(ErrorData::invalid_params(format!("{method}: its parameters cannot be read"), None));
            }
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, shown(&method), None));
        }
        let params = params.unwrap_or_default();
        let name = params.get("name").and_then(Value::as_str);
        named(name.ok_or_else(|| ErrorData::invalid_params("tools/call: `name` is no string", None))?)?;
        let message = match params.get("arguments") {
            Some(arguments) if !arguments.is_object() => format!("expected an object, found {}", kind_of(arguments)),
            _ => return Err(ErrorData::invalid_params("tools/call: its parameters cannot be read", None)),
        };
        let mut refused = result::refused(&Refusal::invalid_argument("arguments", message));
        let is_old = context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
        refused.result_type.take_if(|_| is_old);
        let refused = serde_json::to_value(refused);
        let refused = refused.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(CustomResult::new(refused))
    }
}

fn named(name: &str) -> Result<ToolName, ErrorData> {
    ToolName::parse(name).ok_or_else(|| {
        let known = ToolName::ALL.map(ToolName::as_str).join(", ");
        ErrorData::invalid_params(format!("no tool is named {}; there are {known}", shown(name)), None)
    })
}
