//! Every code that a tool can give, in its envelope.

use std::collections::BTreeSet;

use belljar_core::code::Code;
use belljar_core::options::OptionsDraft;
use belljar_core::run::SkillSelector;
use serde_json::{Value, json};
use sqlx::Connection;

use crate::client::Client;
use crate::world::{World, options, saving};

/// What these tools cannot give.
const ELSEWHERE: [Code; 2] = [Code::NotFound, Code::PayloadTooLarge];

fn execute(name: &str) -> Value {
    json!({ "slug": name, "script_path": "scripts/a.sh" })
}

/// The code of an error, whose envelope has every part.
async fn code(client: &mut Client, tool: &str, arguments: Value) -> String {
    let error = client.error(tool, arguments).await;
    assert!(!error["message"].as_str().unwrap().is_empty() && error["details"].is_object(), "{error}");
    let code = error["code"].as_str().unwrap();
    let known = Code::ALL.iter().find(|known| known.as_str() == code).unwrap();
    assert_eq!(error["retryable"], known.is_retryable());
    code.to_owned()
}

/// The code of a run that did not end well.
async fn error_kind(client: &mut Client, name: &str, status: &str) -> String {
    let result = client.call("execute_cloud_skill", execute(name)).await;
    let envelope = &result["structuredContent"];
    assert_eq!((&result["isError"], &envelope["kind"]), (&json!(true), &json!("execution")), "{result}");
    assert_eq!(envelope["data"]["status"], status);
    envelope["data"]["error_kind"].as_str().unwrap().to_owned()
}

/// What refuses a call.
async fn refusals(reached: &mut BTreeSet<String>) {
    let world = World::new().await;
    let mut client = world.client().await;
    let files = [("scripts/a.sh", "exit 0"), ("references/r.md", "read me")];
    let saved = client.data("save_cloud_skill", saving("demo", &files)).await;
    let (skill, revision) = (saved["skill_id"].clone(), saved["revision_id"].clone());
    let wanted = [
        ("ACCESS_DENIED", "recall_cloud_skill", json!({ "skill_id": "nobody-knows-it" })),
        ("SKILL_NOT_FOUND", "execute_cloud_skill", execute("nothing")),
        ("REVISION_NOT_FOUND", "recall_cloud_skill", json!({ "slug": "demo", "revision_id": "nobody-knows-it" })),
        ("SCRIPT_NOT_FOUND", "execute_cloud_skill", json!({ "slug": "demo", "script_path": "scripts/b.sh" })),
        ("INVALID_COMPONENT_TYPE", "execute_cloud_skill", json!({ "slug": "demo", "script_path": "references/r.md" })),
        ("INVALID_ARGUMENT", "execute_cloud_skill", json!({ "slug": "demo" })),
        ("SCRIPT_DENIED", "execute_cloud_skill", execute("demo")),
        ("CONFLICT", "save_cloud_skill", saving("demo", &files)),
    ];
    for (wanted, tool, arguments) in wanted {
        assert_eq!(code(&mut client, tool, arguments).await, wanted);
        reached.insert(wanted.to_owned());
    }
    let id = belljar_core::ids::SkillId::new(skill.as_str().unwrap());
    world.belljar.set_archived(&crate::world::person(), &SkillSelector::Id(id), true).await.unwrap();
    assert_eq!(code(&mut client, "execute_cloud_skill", execute("demo")).await, "SKILL_ARCHIVED");
    let change = json!({ "name": "demo", "instructions": "More.", "expected_revision_id": revision });
    assert_eq!(code(&mut client, "save_cloud_skill", change).await, "SKILL_ARCHIVED");
    reached.insert("SKILL_ARCHIVED".to_owned());
}

/// How runs end.
async fn endings(reached: &mut BTreeSet<String>) {
    let world = World::new().await;
    let mut client = world.client().await;
    for (name, script, status, wanted) in [
        ("failing", "exit 3", "failed", "SCRIPT_EXECUTION_ERROR"),
        ("slow", "deadline", "timeout", "EXECUTION_TIMEOUT"),
        ("hungry", "memory", "resource_exhausted", "RESOURCE_EXHAUSTED"),
        ("unlucky", "fault", "fault", "EXECUTOR_FAULT"),
    ] {
        world.approved(&mut client, name, script).await;
        assert_eq!(error_kind(&mut client, name, status).await, wanted);
        reached.insert(wanted.to_owned());
    }
    world.assert_trail_is_whole().await;
}

/// What is full, gone or broken.
async fn faults(reached: &mut BTreeSet<String>) {
    let options =
        OptionsDraft { max_concurrent_per_tenant: 1, max_concurrent_total: 1, slot_wait_seconds: 1, ..options() };
    let world = World::with(options.clone(), true).await;
    let mut client = world.client().await;
    world.approved(&mut client, "waiting", "wait").await;
    world.approved(&mut client, "quick", "exit 0").await;
    let waiting =
        client.send("tools/call", json!({ "name": "execute_cloud_skill", "arguments": execute("waiting") })).await;
    world.begun.notified().await;
    assert_eq!(code(&mut client, "execute_cloud_skill", execute("quick")).await, "CAPACITY_EXCEEDED");
    client.end_input().await;
    let ended = client.answer(waiting).await;
    let ended = client.checked("execute_cloud_skill", &ended);
    assert_eq!(ended["structuredContent"]["data"]["error_kind"], "CANCELLED");
    world.assert_trail_is_whole().await;

    let World { belljar, folder, .. } = world;
    drop(belljar);
    let world = World::over(folder, options.clone(), false).await;
    let mut client = world.client().await;
    assert_eq!(code(&mut client, "execute_cloud_skill", execute("quick")).await, "SANDBOX_UNAVAILABLE");

    let World { belljar, folder, .. } = world;
    drop(belljar);
    let world = World::over(folder, options, true).await;
    let mut client = world.client().await;
    let mut database = sqlx::SqliteConnection::connect(world.database().to_str().unwrap()).await.unwrap();
    for change in ["drop trigger blob_is_immutable", "update blob set bytes = x'00' where bytes = cast('wait' as blob)"]
    {
        sqlx::query(sqlx::AssertSqlSafe(change)).execute(&mut database).await.unwrap();
    }
    assert_eq!(code(&mut client, "execute_cloud_skill", execute("waiting")).await, "INTERNAL");
    // Another process holds the lock for longer than anybody waits.
    sqlx::query("begin immediate").execute(&mut database).await.unwrap();
    assert_eq!(code(&mut client, "execute_cloud_skill", execute("quick")).await, "AUDIT_UNAVAILABLE");
    database.close().await.unwrap();
    std::fs::remove_file(world.database()).unwrap();
    assert_eq!(code(&mut client, "save_cloud_skill", saving("new", &[])).await, "STORE_UNAVAILABLE");
    let more =
        ["CAPACITY_EXCEEDED", "CANCELLED", "SANDBOX_UNAVAILABLE", "INTERNAL", "AUDIT_UNAVAILABLE", "STORE_UNAVAILABLE"];
    reached.extend(more.map(str::to_owned));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_code_is_reached() {
    let mut reached = BTreeSet::new();
    refusals(&mut reached).await;
    endings(&mut reached).await;
    faults(&mut reached).await;
    let wanted = Code::ALL.iter().filter(|code| !ELSEWHERE.contains(code)).map(|code| code.as_str().to_owned());
    assert_eq!(reached, wanted.collect());
}
