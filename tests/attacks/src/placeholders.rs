//! Words of the manifest that stand for what a scene has planted.

use std::collections::BTreeMap;

use serde_json::Value;

/// All that may be used.
pub(crate) const NAMES: [&str; 17] = [
    "CANARY_FILE",
    "CANARY_DIR",
    "CANARY_VALUE",
    "ENV_VALUE",
    "CMD_VALUE",
    "DECOY_PID",
    "HOST_TOKEN",
    "OTHER_TMP",
    "OTHER_VALUE",
    "PORT",
    "FREE_PORT",
    "ABSTRACT",
    "SOCK",
    "HOSTNAME",
    "USER",
    "CAP",
    "CAP_MINUS_3",
];

/// What never may turn up in what a script prints: nothing hands it to the script.
pub(crate) const SECRETS: [&str; 4] = ["CANARY_VALUE", "ENV_VALUE", "CMD_VALUE", "OTHER_VALUE"];

/// The values of one scene.
#[derive(Debug, Default)]
pub(crate) struct Placeholders(BTreeMap<&'static str, Value>);

impl Placeholders {
    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        debug_assert!(NAMES.contains(&name), "{name}");
        self.0.insert(name, value.into());
    }

    /// A value as text; empty when it is not set, which no requirement accepts.
    pub(crate) fn get(&self, name: &str) -> String {
        match self.0.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        }
    }

    /// Replaces every placeholder in a text.
    pub(crate) fn text(&self, text: &str) -> String {
        self.0.keys().fold(text.to_owned(), |text, name| text.replace(&format!("{{{{{name}}}}}"), &self.get(name)))
    }

    /// Replaces every placeholder in a document. One that is all of a string keeps its type.
    pub(crate) fn document(&self, document: &Value) -> Value {
        match document {
            Value::String(text) => {
                let name = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
                name.and_then(|name| self.0.get(name)).cloned().unwrap_or_else(|| self.text(text).into())
            }
            Value::Array(items) => items.iter().map(|item| self.document(item)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(key, value)| (key.clone(), self.document(value))).collect())
            }
            plain => plain.clone(),
        }
    }

    /// A number, or a placeholder of one.
    pub(crate) fn number(&self, value: &Value) -> Option<u64> {
        self.document(value).as_u64()
    }
}
