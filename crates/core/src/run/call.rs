//! A call as a surface hands it in.

use belljar_executor::{RunId, SkillName};
use serde_json::Value;

use crate::caller::Owner;
use crate::ids::{RevisionId, SkillId};
use crate::once::IdempotencyKey;
use crate::refusal::Refusal;

/// Which skill: by slug, by id, by both when they agree, or by slug of one owner.
#[derive(Clone, Debug)]
pub enum SkillSelector {
    /// By slug, in the caller's scope.
    Slug(SkillName),
    /// By id.
    Id(SkillId),
    /// By id, which must have this slug.
    Both(SkillId, SkillName),
    /// By slug, among the stored skills of this owner alone.
    Of(Owner, SkillName),
}

/// What a caller asks for.
#[derive(Clone, Debug)]
pub struct Call {
    /// The skill.
    pub skill: SkillSelector,
    /// The revision; without one the published, else the latest.
    pub revision: Option<RevisionId>,
    /// The script, by path or component id.
    pub script: String,
    /// JSON for standard input, byte for byte; `None` closes it empty.
    pub arguments_json: Option<String>,
    /// Command-line arguments.
    pub argv: Vec<String>,
    /// The time-out asked for, seconds; clamped.
    pub timeout_seconds: Option<i64>,
    /// The run that calls.
    pub run_id: Option<RunId>,
    /// A name for this call: sent again under the same one, it is answered with what came of it before.
    pub idempotency_key: Option<IdempotencyKey>,
}

impl Call {
    /// A call of this script without input, of the revision that is published, else the latest.
    #[must_use]
    pub fn new(skill: SkillSelector, script: &str) -> Self {
        Self {
            skill,
            revision: None,
            script: script.to_owned(),
            arguments_json: None,
            argv: Vec::new(),
            timeout_seconds: None,
            run_id: None,
            idempotency_key: None,
        }
    }
}

/// Checks that a text is one JSON object in which no property stands twice, for surfaces that take text.
///
/// # Errors
/// `INVALID_ARGUMENT` naming `argument`.
pub fn check_input_object(argument: &str, text: &str) -> Result<(), Refusal> {
    match crate::json::parse(text) {
        Ok(Value::Object(_)) => Ok(()),
        Ok(other) => {
            Err(Refusal::invalid_argument(argument, format!("expected a JSON object, found {}", kind(&other))))
        }
        Err(error) => Err(Refusal::invalid_argument(argument, format!("not valid JSON: {error}"))),
    }
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
