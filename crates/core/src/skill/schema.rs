//! JSON Schemas that a skill declares: checked when it is saved, so that none fails for the first time in a run.

use serde_json::Value;

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
    jsonschema::draft202012::meta::validate(schema)
        .map_err(|error| format!("is not a JSON Schema (2020-12): {} at `{}`", error, error.instance_path()))?;
    compile_schema(schema).map(drop)
}

/// Compiles a schema. References to other documents are never fetched.
pub(crate) fn compile_schema(schema: &Value) -> Result<jsonschema::Validator, String> {
    jsonschema::draft202012::options()
        .offline()
        .build(schema)
        .map_err(|error| format!("cannot be used as a JSON Schema (references are never fetched): {error}"))
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

    #[test]
    fn a_deep_schema_is_refused_before_it_is_compiled() {
        let mut schema = json!({});
        for _ in 0..1000 {
            schema = json!({ "not": schema });
        }
        assert!(check_schema(&schema).unwrap_err().contains("32 deep"));
    }
}
