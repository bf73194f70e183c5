//! A client that cancels, goes away or is told nothing for a while.

use std::time::Duration;

use belljar_core::audit::Action;
use serde_json::{Value, json};

use crate::client::Client;
use crate::world::World;

/// Starts a script that waits until it is cancelled, and gives the request's id.
async fn waiting(world: &World, client: &mut Client, meta: Value) -> u64 {
    world.approved(client, "demo", "wait").await;
    let call = json!({ "slug": "demo", "script_path": "scripts/a.sh" });
    let params = json!({ "name": "execute_cloud_skill", "arguments": call, "_meta": meta });
    let id = client.send("tools/call", params).await;
    world.begun.notified().await;
    id
}

/// The status of the one run, as its outcome says.
async fn outcome(world: &World) -> Value {
    let outcomes = world.entries_of(Action::ScriptOutcome).await;
    assert_eq!(outcomes.len(), 1);
    outcomes[0].facts()["status"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_request_cancels_its_run_which_is_recorded_and_not_answered() {
    let world = World::new().await;
    let mut client = world.client().await;
    let id = waiting(&world, &mut client, json!({})).await;
    client.notify("notifications/cancelled", json!({ "requestId": id, "reason": "changed my mind" })).await;
    // The connection is still good, and once the run is on the record, it says so.
    let mut status = json!("running");
    while status == "running" {
        let context = client.data("recall_context", json!({ "query": "demo" })).await;
        status = context["skills"][0]["executions"][0]["status"].clone();
    }
    assert_eq!((status, outcome(&world).await), (json!("cancelled"), json!("cancelled")));
    client.end_input().await;
    assert_eq!(client.next().await, None);
    world.assert_trail_is_whole().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_input_cancels_runs_and_serving_ends_when_they_are_recorded() {
    let world = World::new().await;
    let mut client = world.client().await;
    waiting(&world, &mut client, json!({})).await;
    client.end_input().await;
    client.served.await.unwrap().unwrap();
    assert_eq!(outcome(&world).await, "cancelled");
    world.assert_trail_is_whole().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_is_gone_altogether_leaves_nothing_running() {
    let world = World::new().await;
    let mut client = world.client().await;
    waiting(&world, &mut client, json!({ "progressToken": 1 })).await;
    client.disconnect().await.unwrap().unwrap();
    assert_eq!(outcome(&world).await, "cancelled");
    world.assert_trail_is_whole().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_who_stops_the_server_lets_it_tell_how_runs_ended() {
    let world = World::new().await;
    let mut client = world.client().await;
    let id = waiting(&world, &mut client, json!({})).await;
    client.stop();
    let answer = client.answer(id).await;
    let result = client.checked("execute_cloud_skill", &answer);
    let data = &result["structuredContent"]["data"];
    assert_eq!(
        (&result["isError"], &data["status"], &data["error_kind"]),
        (&json!(true), &json!("cancelled"), &json!("CANCELLED"))
    );
    client.served.await.unwrap().unwrap();
    world.assert_trail_is_whole().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_says_nothing_or_leaves_early_is_no_fault() {
    let world = World::new().await;
    for lines in [&[][..], &["{\"jsonrpc\":\"2.0\""], &["not json", ""]] {
        let server = belljar_mcp::Server::new(
            world.belljar.clone(),
            crate::world::agent("ana", &[]),
            belljar_mcp::Options::default(),
        );
        let mut client = Client::connect(crate::client::Era::Handshake, server);
        for line in lines {
            client.line(line).await;
        }
        client.end_input().await;
        client.served.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_is_told_to_those_who_ask_and_only_ever_grows() {
    let world = World::new().await;
    let mut client = world.client().await;
    let id = waiting(&world, &mut client, json!({ "progressToken": "p-1" })).await;
    while client.notifications.len() < 3 {
        let message = client.next().await.unwrap();
        assert_eq!(message["method"], "notifications/progress", "{message}");
        assert_eq!(message["params"]["progressToken"], "p-1");
        client.notifications.push(message);
    }
    client.stop();
    client.answer(id).await;
    let told: Vec<_> =
        client.notifications.iter().map(|message| message["params"]["progress"].as_f64().unwrap()).collect();
    assert!(told.is_sorted_by(|before, after| before < after), "{told:?}");
    // Nothing of it comes behind the answer.
    assert_eq!(client.next().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_told_progress_who_did_not_ask() {
    let world = World::new().await;
    let mut client = world.client().await;
    let id = waiting(&world, &mut client, json!({})).await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    client.stop();
    client.answer(id).await;
    assert_eq!(client.notifications, Vec::<Value>::new());
}
