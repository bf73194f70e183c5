//! JSON Schemas that a skill declares: checked when it is saved, so that none fails for the first time in a run.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Semaphore;

/// Schemas nest at most this deep; what reads them is recursive.
const DEEPEST: usize = 32;

/// Checks a schema against draft 2020-12 and compiles it. References to other documents are never fetched.
pub(super) fn check_schema(schema: &Value) -> Result<(), String> {
    if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
        return Err("is not a JSON Schema: a schema is an object".to_owned());
    }
    if is_deeper_than(schema, DEEPEST) {
        return Err(format!("is not accepted: a schema nests at most {DEEPEST} deep"));
    }
    if Expansion::of(schema) > LARGEST_EXPANSION {
        return Err(format!(
            "is not accepted: with its references written out it has more than {LARGEST_EXPANSION} parts, or refers through \
             more than {LONGEST_CHAIN} levels"
        ));
    }
    jsonschema::draft202012::meta::validate(schema)
        .map_err(|error| format!("is not a JSON Schema (2020-12): {} at `{}`", error, error.instance_path()))?;
    compile_schema(schema).map(drop)
}

/// Validations at once. One that does not end keeps its place, so that no caller can take all threads.
static VALIDATING: Semaphore = Semaphore::const_new(4);

/// How long one validation may take.
const VALIDATION_TIME: Duration = Duration::from_secs(1);

/// Whether a value satisfies a schema. A validation that takes too long says no: a pattern with
/// references back can take minutes for a value that fits the limit of the arguments.
pub(crate) async fn satisfies(schema: Value, value: Value) -> bool {
    let validated = async {
        let place = VALIDATING.acquire().await.ok()?;
        let validate = move || {
            let _place = place;
            compile_schema(&schema).is_ok_and(|validator| validator.is_valid(&value))
        };
        tokio::task::spawn_blocking(validate).await.ok()
    };
    matches!(tokio::time::timeout(VALIDATION_TIME, validated).await, Ok(Some(true)))
}

/// Compiles a schema. References to other documents are never fetched.
fn compile_schema(schema: &Value) -> Result<jsonschema::Validator, String> {
    jsonschema::draft202012::options()
        .offline()
        .build(schema)
        .map_err(|error| format!("cannot be used as a JSON Schema (references are never fetched): {error}"))
}

/// The parts that a schema may have with its references written out.
const LARGEST_EXPANSION: u64 = 100_000;

/// How deep references may lead.
const LONGEST_CHAIN: usize = 256;

/// Counts a schema's parts with its references written out. Twenty definitions that each name the next
/// one twice are a million parts to whoever validates.
struct Expansion<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
    counted: HashMap<*const Value, u64>,
}

impl<'a> Expansion<'a> {
    fn of(root: &'a Value) -> u64 {
        let mut anchors = HashMap::new();
        collect_anchors(root, &mut anchors);
        Self { root, anchors, counted: HashMap::new() }.count(root, LONGEST_CHAIN)
    }

    fn count(&mut self, part: &'a Value, deeper: usize) -> u64 {
        let Some(deeper) = deeper.checked_sub(1) else { return u64::MAX };
        if let Some(count) = self.counted.get(&std::ptr::from_ref(part)) {
            return *count;
        }
        // A part that refers to itself counts once; how often it is gone through depends on the value.
        self.counted.insert(part, 1);
        let below = match part {
            Value::Array(items) => items.iter().fold(0, |sum: u64, item| sum.saturating_add(self.count(item, deeper))),
            Value::Object(entries) => entries.iter().fold(0, |sum: u64, (key, entry)| {
                let parts = match (key.as_str(), entry.as_str()) {
                    ("$ref" | "$dynamicRef", Some(reference)) => match self.target(reference) {
                        Some(target) => self.count(target, deeper),
                        None => self.outside(reference),
                    },
                    _ => self.count(entry, deeper),
                };
                sum.saturating_add(parts)
            }),
            _ => 0,
        };
        let count = below.saturating_add(1);
        self.counted.insert(part, count);
        count
    }

    /// What a reference means inside this schema: a pointer, an anchor, or either behind an `$id`.
    fn target(&self, reference: &str) -> Option<&'a Value> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let document = if base.is_empty() { self.root } else { self.anchors.get(base).copied()? };
        let fragment = percent_decoded(fragment)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            document.pointer(&fragment)
        } else {
            self.anchors.get(fragment.as_str()).copied()
        }
    }

    /// How many parts a reference counts that is not found in the schema: too many, as it may be one of its own
    /// in a spelling that is not understood here. Where the schema has no address of its own, an address is that
    /// of another document, which is told when the schema is compiled.
    fn outside(&self, reference: &str) -> u64 {
        let is_address =
            |text: &str| text.split_once(':').is_some_and(|(scheme, _)| scheme.starts_with("http") || scheme == "file");
        if is_address(reference) && !self.anchors.keys().any(|name| is_address(name)) { 1000 } else { u64::MAX }
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Every part that has a name of its own, by that name.
fn collect_anchors<'a>(part: &'a Value, anchors: &mut HashMap<&'a str, &'a Value>) {
    match part {
        Value::Array(items) => items.iter().for_each(|item| collect_anchors(item, anchors)),
        Value::Object(entries) => {
            let names = ["$anchor", "$dynamicAnchor", "$id"].into_iter().filter_map(|key| entries.get(key)?.as_str());
            anchors.extend(names.map(|name| (name, part)));
            entries.values().for_each(|entry| collect_anchors(entry, anchors));
        }
        _ => {}
    }
}

fn is_deeper_than(value: &Value, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else { return true };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper_than(item, below)),
        Value::Object(entries) => entries.values().any(|entry| is_deeper_than(entry, below)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schemas() {
        let good =
            json!({"type": "object", "$defs": {"a": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/a"}}});
        assert_eq!(check_schema(&good), Ok(()));
        for bad in [
            json!("object"),
            json!({"type": "objekt"}),
            json!({"required": "x"}),
            json!({"pattern": "("}),
            json!({"$ref": "https://example.com/schema.json"}),
            json!({"$ref": "file:///etc/passwd"}),
            json!({"$ref": "#/$defs/none"}),
        ] {
            assert!(check_schema(&bad).is_err(), "{bad}");
        }
    }

    /// `d0` names `d1` twice, `d1` names `d2` twice, and so on.
    fn doubling(levels: usize) -> Value {
        let definitions = (0..levels).map(|level| {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            (format!("d{level}"), json!({"allOf": [next, next]}))
        });
        let mut definitions: serde_json::Map<_, _> = definitions.collect();
        definitions.insert(format!("d{levels}"), json!({"type": "object"}));
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    }

    #[test]
    fn what_grows_with_every_reference_is_refused_before_it_is_compiled() {
        assert_eq!(check_schema(&doubling(8)), Ok(()));
        for levels in [20, 40, 5000] {
            assert!(check_schema(&doubling(levels)).unwrap_err().contains("written out"), "{levels}");
        }
        for spelling in ["#/%24defs/d", "http://e.x/s#/$defs/d", "http://e.x/./s#/$defs/d", "s#/$defs/d"] {
            let text = doubling(30).to_string().replace("#/$defs/d", spelling);
            let mut schema: Value = serde_json::from_str(&text).unwrap();
            schema["$id"] = "http://e.x/s".into();
            assert!(check_schema(&schema).unwrap_err().contains("written out"), "{spelling}");
        }
        let known = json!({"$ref": "https://json-schema.org/draft/2020-12/schema"});
        assert_eq!(check_schema(&known), Ok(()));
        let tree = json!({"$id": "tree", "properties": {"left": {"$ref": "tree"}, "right": {"$ref": "#"}}});
        assert_eq!(check_schema(&tree), Ok(()));
    }

    #[tokio::test]
    async fn a_value_satisfies_a_schema_or_not() {
        let schema = json!({"type": "object", "required": ["a"]});
        assert!(satisfies(schema.clone(), json!({"a": 1})).await);
        assert!(!satisfies(schema, json!({})).await);
    }

    #[test]
    fn a_deep_schema_is_refused_before_it_is_compiled() {
        let mut schema = json!({});
        for _ in 0..1000 {
            schema = json!({ "not": schema });
        }
        assert!(check_schema(&schema).unwrap_err().contains("32 deep"));
    }
}
