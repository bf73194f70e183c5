//! `recall_cloud_skill`.

mod file;

use belljar_core::code::Code;
use belljar_core::envelope;
use belljar_core::refusal::Refusal;
use belljar_core::service::RecalledSkill;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};

use super::selector;
use crate::arguments::Arguments;
use crate::{Server, result};

pub(super) const DESCRIPTION: &str = "\
Finds and reads skills. With query, or with nothing, it lists skills, best matches first. With slug or skill_id it gives one \
skill: its instructions, its files, the revision_id to pin, and which of its scripts you may run now, with the reason when not. \
With resource (a path or component id) and revision_id it gives one file; a long one comes in ranges, and next_resource names \
the next.";

/// How many skills a list holds.
const LISTED: u32 = 20;

/// Lists skills, shows one, or reads a file of one.
pub(super) async fn run(server: &Server, mut arguments: Arguments) -> Result<CallToolResult, Refusal> {
    let (belljar, caller) = (&server.inner.belljar, &server.inner.caller);
    let most = server.inner.options.inline_output_bytes;
    let skill = selector::take(&mut arguments)?;
    let revision = selector::revision(&mut arguments)?;
    let (query, resource) = (arguments.text("query")?, arguments.text("resource")?);
    let Some(skill) = skill else {
        for (name, given) in [("resource", resource.is_some()), ("revision_id", revision.is_some())] {
            if given {
                return Err(Refusal::invalid_argument(name, "goes with `slug` or `skill_id`"));
            }
        }
        let found = belljar.find_skills(caller, &query.unwrap_or_default(), LISTED).await?;
        return Ok(result::of(envelope::of("skills", json!(found)), false));
    };
    if query.is_some() {
        return Err(Refusal::invalid_argument("query", "goes without `slug` and `skill_id`"));
    }
    let envelope = match resource {
        Some(resource) => {
            let wanted = file::Wanted::parse(&resource)?;
            let file = belljar.recall_file(caller, &skill, revision.as_ref(), wanted.component()).await?;
            envelope::of("resource", file::shape(&file, &wanted, most)?)
        }
        None => {
            let mut data = data(&belljar.recall_skill(caller, &skill, revision.as_ref()).await?)?;
            shorten(&mut data, most);
            envelope::of("skill", Value::Object(data))
        }
    };
    Ok(result::of(envelope, false))
}

/// A skill as recall shows it.
pub(super) fn data(skill: &RecalledSkill) -> Result<Map<String, Value>, Refusal> {
    match serde_json::to_value(skill) {
        Ok(Value::Object(data)) => Ok(data),
        Ok(_) | Err(_) => Err(Refusal::new(Code::Internal, "The skill cannot be shown.")),
    }
}

/// Cuts long instructions; the whole is in the index file.
fn shorten(data: &mut Map<String, Value>, most: usize) {
    let Some(Value::String(text)) = data.get_mut("instructions") else { return };
    let shown = text.floor_char_boundary(most);
    if shown < text.len() {
        text.truncate(shown);
        data.insert("instructions_inline_bytes".to_owned(), json!(shown));
        data.insert("next_resource".to_owned(), json!("SKILL.md"));
    }
}
