//! The arguments of a call, taken by name and kind: what is unknown or of another kind is refused by its name.

use belljar_core::refusal::Refusal;
use rmcp::model::JsonObject;
use serde_json::Value;

/// The arguments that have not been taken.
#[derive(Debug)]
pub(crate) struct Arguments {
    given: JsonObject,
}

impl Arguments {
    /// The arguments of a call of a tool that takes the properties of this schema.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`, naming one that the tool does not take.
    pub(crate) fn new(given: Option<JsonObject>, schema: &JsonObject) -> Result<Self, Refusal> {
        let given = given.unwrap_or_default();
        let known = schema.get("properties").and_then(Value::as_object);
        let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
        if let Some(name) = given.keys().find(|name| !is_known(name)) {
            let known: Vec<_> = known.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            let name = shown(name);
            return Err(Refusal::invalid_argument(&name, format!("is unknown; known are {}", known.join(", "))));
        }
        Ok(Self { given })
    }

    fn take<T>(
        &mut self,
        name: &str,
        kind: &str,
        read: impl FnOnce(Value) -> Result<T, Value>,
    ) -> Result<Option<T>, Refusal> {
        let Some(value) = self.given.shift_remove(name) else { return Ok(None) };
        read(value)
            .map(Some)
            .map_err(|value| Refusal::invalid_argument(name, format!("expected {kind}, found {}", kind_of(&value))))
    }

    /// A string; an empty one is as good as none.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        let text = self.take(name, "a string", |value| match value {
            Value::String(text) => Ok(text),
            other => Err(other),
        })?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// A whole number, written as `30` or `30.0`.
    pub(crate) fn integer(&mut self, name: &str) -> Result<Option<i64>, Refusal> {
        self.take(name, "an integer", |value| integer(&value).ok_or(value))
    }

    /// A whole number, pulled into a range.
    pub(crate) fn clamped(&mut self, name: &str, default: u32, most: u32) -> Result<u32, Refusal> {
        let number = self.integer(name)?.unwrap_or_else(|| default.into());
        Ok(u32::try_from(number.clamp(1, most.into())).unwrap_or(default))
    }

    /// A boolean.
    pub(crate) fn flag(&mut self, name: &str, default: bool) -> Result<bool, Refusal> {
        Ok(self.take(name, "a boolean", |value| value.as_bool().ok_or(value))?.unwrap_or(default))
    }

    /// An object, as compact JSON in the order in which it was written.
    pub(crate) fn object(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        self.take(name, "an object", |value| if value.is_object() { Ok(value.to_string()) } else { Err(value) })
    }

    /// Strings.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, Refusal> {
        let Some(items) = self.take(name, "an array of strings", |value| match value {
            Value::Array(items) => Ok(items),
            other => Err(other),
        })?
        else {
            return Ok(None);
        };
        let text = |(at, item)| match item {
            Value::String(text) => Ok(text),
            other => {
                let message = format!("[{at}]: expected a string, found {}", kind_of(&other));
                Err(Refusal::invalid_argument(name, message))
            }
        };
        items.into_iter().enumerate().map(text).collect::<Result<_, _>>().map(Some)
    }
}

fn integer(value: &Value) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return Some(number);
    }
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    #[expect(clippy::cast_possible_truncation, reason = "a number beyond the range becomes its end, and is clamped")]
    Some(number as i64)
}

/// A name as it may be shown: of a bounded length, without control characters.
pub(crate) fn shown(name: &str) -> String {
    let short: String = name.chars().take(64).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if short.is_empty() { "an empty name".to_owned() } else { short }
}

pub(crate) const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
