//! `save_cloud_skill`.

use belljar_core::envelope;
use belljar_core::ids::RevisionId;
use belljar_core::refusal::Refusal;
use belljar_core::service::{ChangeRequest, ChangedSkill};
use belljar_core::skill::{Changes, ComponentChange};
use belljar_executor::SkillName;
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::{Server, result};

pub(super) const DESCRIPTION: &str = "\
Saves a procedure as a skill: its description, its instructions in Markdown and its files, as one new immutable revision. \
Without expected_revision_id it makes a new skill and is refused with CONFLICT when the name is taken. With \
expected_revision_id, the latest revision that recall_cloud_skill told, it changes that skill: what is left out stays as it is. \
A revision is a draft until it is published. Scripts of a new revision do not run before a person has approved them.";

/// Makes a skill, or changes one.
pub(super) async fn run(server: &Server, arguments: Arguments) -> Result<CallToolResult, Refusal> {
    let request = parse(arguments)?;
    let changed = server.inner.belljar.change_skill(&server.inner.caller, request).await?;
    Ok(result::of(shape(changed)?, false))
}

fn parse(mut arguments: Arguments) -> Result<ChangeRequest, Refusal> {
    let (name, slug) = (arguments.text("name")?, arguments.text("slug")?);
    let word = match (&name, &slug) {
        (Some(name), Some(slug)) if name != slug => {
            return Err(Refusal::invalid_argument("slug", "is not the name; a skill's slug is its name"));
        }
        (Some(name), _) => name,
        (None, Some(slug)) => slug,
        (None, None) => return Err(Refusal::invalid_argument("name", "is missing")),
    };
    let argument = if name.is_some() { "name" } else { "slug" };
    let name = SkillName::parse(word).map_err(|error| Refusal::invalid_argument(argument, error))?;
    let (description, instructions) = (arguments.text("description")?, arguments.text("instructions")?);
    let components = arguments.text("components_json")?;
    let components = components.map_or_else(|| Ok(Vec::new()), |text| ComponentChange::parse_all(&text));
    let components = components.map_err(|error| Refusal::invalid_argument("components_json", error))?;
    let expected = arguments.text("expected_revision_id")?.map(|id| RevisionId::new(&id));
    let publish = arguments.flag("publish", false)?;
    let team = arguments.text("team_id")?;
    Ok(ChangeRequest { changes: Changes { name, description, instructions, components }, team, expected, publish })
}

/// The skill as recall shows it, without the instructions that the caller just sent.
fn shape(changed: ChangedSkill) -> Result<Value, Refusal> {
    let ChangedSkill { saved, recalled, notes } = changed;
    let mut data = super::recall::data(&recalled)?;
    data.shift_remove("instructions");
    data.insert("is_new_revision".to_owned(), json!(saved.is_new));
    data.insert("notes".to_owned(), json!(notes));
    Ok(envelope::of("skill", Value::Object(data)))
}
