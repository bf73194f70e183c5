//! What a client can read beside the answers of the tools: the streams of its runs.

use belljar_core::code::Code;
use belljar_core::execution::ExecutionRecord;
use belljar_executor::{Digest, ExecutionId};
use rmcp::ErrorData;
use rmcp::model::{JsonObject, MetaObject, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use crate::Server;
use crate::arguments::shown;

/// What stands before the id in an address.
const PREFIX: &str = "belljar://executions/";

/// A stream of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }

    /// What was kept of it.
    pub(crate) fn of(self, record: &ExecutionRecord) -> &str {
        match self {
            Self::Stdout => &record.stdout,
            Self::Stderr => &record.stderr,
        }
    }

    /// Whether the script wrote more than was kept.
    pub(crate) const fn was_cut(self, record: &ExecutionRecord) -> bool {
        match self {
            Self::Stdout => record.stdout_truncated,
            Self::Stderr => record.stderr_truncated,
        }
    }

    /// Its address.
    pub(crate) fn uri(self, id: &ExecutionId) -> String {
        format!("{PREFIX}{id}/{}", self.as_str())
    }
}

/// A link to a stream, with its size and digest.
pub(crate) fn link(record: &ExecutionRecord, stream: Stream) -> Resource {
    let text = stream.of(record);
    Resource::new(stream.uri(&record.execution_id), stream.as_str())
        .with_title(format!("{} of {}", stream.as_str(), record.script_path))
        .with_mime_type("text/plain")
        .with_size(text.len() as u64)
        .with_meta(digest(text))
}

fn digest(text: &str) -> MetaObject {
    let digest = Digest::of(text.as_bytes()).to_string().to_ascii_lowercase();
    let mut meta = JsonObject::new();
    meta.insert("belljar/digest".to_owned(), json!(format!("sha256:{digest}")));
    MetaObject(meta)
}

/// The addresses that can be read.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{PREFIX}{{execution_id}}/{{stream}}"), "execution-stream")
        .with_title("A stream of an execution")
        .with_description(
            "What a script wrote: `stream` is stdout or stderr. You can read those of your own executions.",
        )
        .with_mime_type("text/plain")
}

/// Reads a stream of one of the caller's runs.
pub(crate) async fn read(server: &Server, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let unknown = || ErrorData::resource_not_found(format!("no resource is at {}", shown(uri)), None);
    let (id, stream) = uri.strip_prefix(PREFIX).and_then(|rest| rest.split_once('/')).ok_or_else(unknown)?;
    let stream = [Stream::Stdout, Stream::Stderr].into_iter().find(|known| known.as_str() == stream);
    let stream = stream.ok_or_else(unknown)?;
    let id = ExecutionId::parse(id).map_err(|_| unknown())?;
    let found = server.inner.belljar.execution(&server.inner.caller, &id).await;
    let record = found.map_err(|refusal| match refusal.code() {
        Code::NotFound => unknown(),
        _ => ErrorData::internal_error(refusal.to_string(), None),
    })?;
    let text = stream.of(&record);
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_meta(digest(text))]))
}
