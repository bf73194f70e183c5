//! What a run is given, and what it answers.

use belljar_core::audit::Action;
use serde_json::{Value, json};

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn what_the_caller_gives_is_what_the_script_gets() {
    let world = World::new().await;
    let mut client = world.client().await;
    world.approved(&mut client, "demo", "input").await;
    for (arguments, input, argv) in [
        (json!({}), json!("{}"), json!([])),
        (json!({ "input_args": {} }), json!("{}"), json!([])),
        (
            json!({ "input_args": { "b": 1, "a": [true, null, "é"] } }),
            json!(r#"{"b":1,"a":[true,null,"é"]}"#),
            json!([]),
        ),
        (json!({ "argv": [] }), json!(null), json!([])),
        (json!({ "argv": ["-v", ""] }), json!(null), json!(["-v", ""])),
        (json!({ "argv": ["x"], "input_args": { "a": 1 } }), json!(r#"{"a":1}"#), json!(["x"])),
    ] {
        let mut call = json!({ "slug": "demo", "script_path": "scripts/a.sh" });
        call.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        let data = client.data("execute_cloud_skill", call).await;
        assert_eq!(data["output_data"], json!({ "input": input, "argv": argv }), "{arguments}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_out_is_pulled_into_its_range() {
    let world = World::new().await;
    let mut client = world.client().await;
    world.approved(&mut client, "demo", "exit 0").await;
    for (asked, effective) in [
        (json!(-5), 1),
        (json!(0), 1),
        (json!(7), 7),
        (json!(30.0), 30),
        (json!(61), 60),
        (json!(1e300), 60),
        (json!(u64::MAX), 60),
    ] {
        let call = json!({ "slug": "demo", "script_path": "scripts/a.sh", "timeout_seconds": asked });
        assert_eq!(client.data("execute_cloud_skill", call).await["timeout_seconds"], effective, "{asked}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_names_what_ran_and_proves_that_it_is_on_the_record() {
    let world = World::new().await;
    let mut client = world.client().await;
    let saved = world.approved(&mut client, "demo", "exit 0").await;
    let call = json!({ "skill_id": saved["skill_id"], "slug": "demo", "revision_id": saved["revision_id"], "script_path": "scripts/a.sh" });
    let answer = client
        .request(
            "tools/call",
            json!({ "name": "execute_cloud_skill", "arguments": call, "_meta": { "belljar/run-id": "run-7" } }),
        )
        .await;
    let result = client.checked("execute_cloud_skill", &answer);
    let data = &result["structuredContent"]["data"];
    assert_eq!((&data["skill_id"], &data["revision_id"]), (&saved["skill_id"], &saved["revision_id"]));
    assert_eq!((&data["run_id"], &data["replayed"], &data["recorded"]), (&json!("run-7"), &json!(false), &json!(true)));
    let run = world.entries_of(Action::ScriptRun).await.pop().unwrap();
    assert_eq!(data["receipt"]["audit_id"], run.id.as_str());
    // What approves a script is not for agents.
    assert!(data.get("pin").is_none() && data.get("grant_id").is_none(), "{data}");
    assert!(!result.to_string().contains(&run.facts()["pin"].as_str().unwrap().to_owned()));
    let wrong = json!({ "name": "execute_cloud_skill", "arguments": call, "_meta": { "belljar/run-id": 7 } });
    let wrong = client.request("tools/call", wrong).await;
    assert_eq!(wrong["result"]["structuredContent"]["error"]["details"]["argument"], "belljar/run-id");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_under_a_key_runs_once() {
    let world = World::new().await;
    let mut client = world.client().await;
    world.approved(&mut client, "demo", "input").await;
    let call = |input: Value| json!({ "slug": "demo", "script_path": "scripts/a.sh", "input_args": input, "idempotency_key": "k" });
    let first = client.data("execute_cloud_skill", call(json!({ "a": 1 }))).await;
    let second = client.data("execute_cloud_skill", call(json!({ "a": 1 }))).await;
    assert_eq!((&first["replayed"], &second["replayed"]), (&json!(false), &json!(true)));
    assert_eq!((&first["execution_id"], &first["stdout"]), (&second["execution_id"], &second["stdout"]));
    assert_eq!(client.error("execute_cloud_skill", call(json!({ "a": 2 }))).await["code"], "CONFLICT");
    assert_eq!(world.entries_of(Action::ScriptRun).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_names_what_a_person_can_approve() {
    let world = World::new().await;
    let mut client = world.client().await;
    let saved = crate::world::saving("demo", &[("scripts/a.sh", "exit 0")]);
    client.data("save_cloud_skill", saved).await;
    let call = json!({ "slug": "demo", "script_path": "scripts/a.sh" });
    let error = client.error("execute_cloud_skill", call.clone()).await;
    let waiting = world.belljar.pending_grants(&crate::world::person()).await.unwrap();
    assert_eq!(error["details"], json!({ "reason": "grant_missing", "pending_id": waiting[0].id.as_str() }));
    world.approve().await;
    assert_eq!(client.data("execute_cloud_skill", call).await["status"], "success");
}
