//! Arguments that are unknown, wrong or missing are refused by their names.

use serde_json::{Value, json};

use crate::client::Client;
use crate::world::{World, saving};

async fn refused(client: &mut Client, tool: &str, arguments: Value, name: &str) {
    let error = client.error(tool, arguments.clone()).await;
    assert_eq!(
        (&error["code"], &error["details"]["argument"]),
        (&json!("INVALID_ARGUMENT"), &json!(name)),
        "{arguments}"
    );
    assert!(error["message"].as_str().unwrap().starts_with(&format!("{name}: ")), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_argument_of_each_tool_is_refused_when_it_is_of_another_kind() {
    let world = World::new().await;
    let mut client = world.client().await;
    let listed = client.request("tools/list", json!({})).await;
    let mut count = 0;
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let required = json!({ "query": "x", "script_path": "a.sh", "slug": "demo", "name": "demo" });
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        let base: serde_json::Map<_, _> = required
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| properties.contains_key(*name))
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect();
        for (property, schema) in properties {
            let kind = schema["type"].as_str().unwrap();
            let wrong = [json!(null), json!(1.5), json!("x"), json!([1]), json!({}), json!(true)];
            for value in wrong.iter().filter(|value| !is_of(value, kind)) {
                let mut arguments = base.clone();
                // What goes only without another is asked alone.
                arguments.retain(|name, _| !(property == "query" && name == "slug"));
                arguments.insert(property.clone(), value.clone());
                refused(&mut client, name, Value::Object(arguments), property).await;
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        _ => false,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_tool_takes_is_refused_by_its_name() {
    let world = World::new().await;
    let mut client = world.client().await;
    for name in ["bucket", "memory_type", "prefer_working", "agent_id", "agent_instance_id"] {
        refused(&mut client, "recall_context", json!({ "query": "x", name: "y" }), name).await;
    }
    refused(&mut client, "save_cloud_skill", json!({ "name": "demo", "url": "https://example.org" }), "url").await;
    refused(&mut client, "execute_cloud_skill", json!({ "slug": "demo", "files": [] }), "files").await;
    // A misspelt name is told before what is missing because of it.
    refused(&mut client, "execute_cloud_skill", json!({ "slug": "demo", "scriptPath": "a.sh" }), "scriptPath").await;
    let long = "x".repeat(10_000);
    let error = client.error("recall_cloud_skill", json!({ (long): 1, "query": "x" })).await;
    assert!(error.to_string().len() < 1000, "{error}");
    let answer = client.request("tools/call", json!({ "name": "recall_context", "arguments": [1] })).await;
    let result = client.checked("recall_context", &answer);
    assert_eq!(result["structuredContent"]["error"]["details"]["argument"], "arguments");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_makes_no_sense_together_is_refused() {
    let world = World::new().await;
    let mut client = world.client().await;
    let saved = client.data("save_cloud_skill", saving("demo", &[("scripts/a.sh", "exit 0")])).await;
    client.data("save_cloud_skill", saving("other", &[])).await;
    let id = &saved["skill_id"];
    let script = "scripts/a.sh";
    for (tool, arguments, name) in [
        ("execute_cloud_skill", json!({ "script_path": script }), "slug"),
        ("execute_cloud_skill", json!({ "script_path": script, "slug": "Not a slug" }), "slug"),
        ("execute_cloud_skill", json!({ "script_path": script, "slug": "other", "skill_id": id }), "slug"),
        ("execute_cloud_skill", json!({ "script_path": script, "skill_id": id, "team_id": "red" }), "team_id"),
        (
            "execute_cloud_skill",
            json!({ "script_path": script, "slug": "demo", "idempotency_key": "a b" }),
            "idempotency_key",
        ),
        ("execute_cloud_skill", json!({ "script_path": script, "slug": "demo", "argv": ["a", 1] }), "argv"),
        ("execute_cloud_skill", json!({ "script_path": "", "slug": "demo" }), "script_path"),
        ("recall_cloud_skill", json!({ "slug": "demo", "query": "x" }), "query"),
        ("recall_cloud_skill", json!({ "resource": "SKILL.md" }), "resource"),
        ("recall_cloud_skill", json!({ "revision_id": "x" }), "revision_id"),
        ("recall_cloud_skill", json!({ "team_id": "red" }), "team_id"),
        ("recall_cloud_skill", json!({ "slug": "demo", "resource": "SKILL.md" }), "revision_id"),
        ("save_cloud_skill", json!({ "description": "x" }), "name"),
        ("save_cloud_skill", json!({ "name": "one", "slug": "two" }), "slug"),
        ("save_cloud_skill", json!({ "slug": "-" }), "slug"),
        ("save_cloud_skill", json!({ "name": "new", "components_json": "{}" }), "components_json"),
        ("recall_context", json!({}), "query"),
        ("recall_context", json!({ "query": "..." }), "query"),
        ("recall_context", json!({ "query": "x", "max_tokens": 255 }), "max_tokens"),
        ("recall_context", json!({ "query": "x", "scope": "world" }), "scope"),
        ("recall_context", json!({ "query": "x", "scope": "team" }), "team_id"),
        ("recall_context", json!({ "query": "x", "scope": "personal", "team_id": "red" }), "team_id"),
    ] {
        refused(&mut client, tool, arguments, name).await;
    }
}
