//! `execute_cloud_skill`.

use belljar_core::envelope;
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::once::IdempotencyKey;
use belljar_core::refusal::Refusal;
use belljar_core::run::{Answer, Call};
use belljar_executor::RunId;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::selector;
use crate::arguments::Arguments;
use crate::resources::{Stream, link};
use crate::{Server, progress, result};

pub(super) const DESCRIPTION: &str = "\
Runs one script of a skill in a sealed, single-use sandbox: no network, nothing of the host, bounded time, memory and output. It \
runs only if a person approved exactly these bytes; else it is refused with SCRIPT_DENIED and a reason. Recall the skill first, \
and pass the revision_id you read. The script reads input_args as JSON on standard input (or argv, where it takes arguments), \
starts in the writable folder /workspace, and finds its own skill under /skill. The result has status, exit_code, stdout and \
stderr; output_data is standard output as JSON when it is one object or array. A script that failed is a result too: read its \
stderr. Do not use it for anything but a skill's own scripts.";

/// The key under `_meta` that names the run which calls.
const RUN_ID: &str = "belljar/run-id";

/// Runs a script. Once it is recorded, the answer waits for its record, whatever the client does.
pub(super) async fn run(
    server: &Server,
    arguments: Arguments,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, Refusal> {
    let call = parse(arguments, context.meta.get(RUN_ID))?;
    let running = server.inner.belljar.start(server.inner.caller.clone(), call);
    let cancel = running.cancel();
    let (request, end) = (context.ct.clone(), server.inner.end.clone());
    let watch = tokio::spawn(async move {
        tokio::select! {
            () = request.cancelled() => {}
            () = end.cancelled() => {}
        }
        cancel.fire();
    });
    // Its notification fires a token; it does not end this function.
    let answer = progress::report(context, "running", running.wait()).await;
    watch.abort();
    Ok(shape(&answer?, server.inner.options.inline_output_bytes))
}

fn parse(mut arguments: Arguments, run_id: Option<&Value>) -> Result<Call, Refusal> {
    let skill = selector::take(&mut arguments)?
        .ok_or_else(|| Refusal::invalid_argument("slug", "is missing: name the skill by `slug` or `skill_id`"))?;
    let script = arguments.text("script_path")?;
    let script = script.ok_or_else(|| Refusal::invalid_argument("script_path", "is missing"))?;
    let revision = selector::revision(&mut arguments)?;
    let (input, argv) = (arguments.object("input_args")?, arguments.texts("argv")?);
    let timeout_seconds = arguments.integer("timeout_seconds")?;
    let key = arguments.text("idempotency_key")?.map(|key| IdempotencyKey::parse(&key)).transpose();
    let idempotency_key = key.map_err(|error| Refusal::invalid_argument("idempotency_key", error))?;
    let run_id = match run_id {
        None => None,
        Some(Value::String(text)) => {
            Some(RunId::parse(text).map_err(|error| Refusal::invalid_argument(RUN_ID, error))?)
        }
        Some(_) => return Err(Refusal::invalid_argument(RUN_ID, "expected a string")),
    };
    // A caller that gives neither means a script without arguments; one that gives `argv` means no input.
    let arguments_json = input.or_else(|| argv.is_none().then(|| "{}".to_owned()));
    let argv = argv.unwrap_or_default();
    Ok(Call { revision, arguments_json, argv, timeout_seconds, run_id, idempotency_key, ..Call::new(skill, &script) })
}

/// The envelope of a run, with no more of each stream than fits, and links to what does not.
fn shape(answer: &Answer, most: usize) -> CallToolResult {
    let record = &answer.record;
    let mut envelope = envelope::execution(answer);
    let mut more = Vec::new();
    if let Some(data) = envelope.get_mut("data").and_then(Value::as_object_mut) {
        // What approves a script is for those who may approve.
        data.shift_remove("pin");
        data.shift_remove("grant_id");
        for stream in [Stream::Stdout, Stream::Stderr] {
            let text = stream.of(record);
            let shown = text.floor_char_boundary(most);
            if shown < text.len() {
                data.insert(stream.as_str().to_owned(), json!(&text[..shown]));
                data.insert(format!("{}_inline_bytes", stream.as_str()), json!(shown));
                more.push(ContentBlock::text(notice(record, stream, shown)));
                more.push(ContentBlock::resource_link(link(record, stream)));
            }
        }
        if data.get("output_data").is_some_and(|data| data.to_string().len() > most) {
            data.shift_remove("output_data");
        }
    }
    let mut result = result::of(envelope, record.status != Status::Success);
    result.content.extend(more);
    result
}

fn notice(record: &ExecutionRecord, stream: Stream, shown: usize) -> String {
    let (name, whole) = (stream.as_str(), stream.of(record).len());
    let uri = stream.uri(&record.execution_id);
    let cut = if stream.was_cut(record) { ", which was cut at the limit of this host" } else { "" };
    format!("{name}: the first {shown} of {whole} bytes are in this answer; read the rest{cut} from the resource {uri}")
}
