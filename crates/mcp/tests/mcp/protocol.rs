//! Both eras of the protocol, the list of tools, and requests that make no sense.

use belljar_mcp::{Options, Server};
use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::world::{World, agent, saving};

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_is_saved_found_pinned_refused_approved_and_run_in_both_eras() {
    for era in [Era::Handshake, Era::Stateless] {
        let world = World::new().await;
        let server = Server::new(world.belljar.clone(), agent("ana", &[]), Options::default());
        let mut client = Client::start_in(era, server).await;
        client.data("save_cloud_skill", saving("greeting", &[("scripts/a.sh", "input")])).await;
        let found = client.data("recall_cloud_skill", json!({ "query": "greet" })).await;
        let revision = &found["skills"][0]["revision_id"];
        let call = json!({ "slug": "greeting", "revision_id": revision, "script_path": "scripts/a.sh", "input_args": { "a": 1 } });
        assert_eq!(client.error("execute_cloud_skill", call.clone()).await["details"]["reason"], "grant_missing");
        let recalled = client.data("recall_cloud_skill", json!({ "slug": "greeting" })).await;
        assert_eq!(
            recalled["scripts"][0],
            json!({ "path": "scripts/a.sh", "input": "both", "runnable": false, "reason": "grant_missing" })
        );
        world.approve().await;
        let recalled = client.data("recall_cloud_skill", json!({ "slug": "greeting" })).await;
        assert_eq!(recalled["scripts"][0]["runnable"], true);
        let data = client.data("execute_cloud_skill", call).await;
        assert_eq!((&data["status"], &data["output_data"]["input"]), (&json!("success"), &json!(r#"{"a":1}"#)));
        client.end_input().await;
        client.served.await.unwrap().unwrap();
        world.assert_trail_is_whole().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_tells_of_itself_is_the_same_in_both_eras() {
    let world = World::new().await;
    let server = Server::new(world.belljar.clone(), agent("ana", &[]), Options::default());
    let mut old = Client::connect(Era::Handshake, server.clone());
    for asked in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let mut old = Client::connect(Era::Handshake, server.clone());
        let params =
            json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let told = old.request("initialize", params).await;
        assert_eq!(told["result"]["protocolVersion"], asked);
    }
    let params =
        json!({ "protocolVersion": "2999-01-01", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let told = old.request("initialize", params).await;
    assert_eq!(told["result"]["protocolVersion"], "2025-11-25");
    let mut new = Client::connect(Era::Stateless, server);
    let discovered = new.request("server/discover", json!({})).await;
    let versions = discovered["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")), "{discovered}");
    for field in ["capabilities", "instructions"] {
        assert_eq!(told["result"][field], discovered["result"][field], "{field}");
    }
    let instructions = told["result"]["instructions"].as_str().unwrap();
    let place = |word: &str| instructions.find(word).unwrap();
    assert!(place("1. Recall") < place("2. Pin") && place("2. Pin") < place("3. Execute"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_says_all_that_a_host_can_know_of_it() {
    let world = World::new().await;
    let mut client = world.client().await;
    let listed = client.request("tools/list", json!({})).await["result"]["tools"].clone();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["recall_context", "recall_cloud_skill", "execute_cloud_skill", "save_cloud_skill"]);
    for tool in listed.as_array().unwrap() {
        let annotations = &tool["annotations"];
        let reads = tool["name"].as_str().unwrap().starts_with("recall_");
        assert_eq!(annotations["readOnlyHint"], reads);
        for hint in ["destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(annotations[hint].is_boolean(), "{tool}");
        }
        assert_eq!(tool["outputSchema"]["type"], "object");
        assert!(tool["description"].as_str().unwrap().len() > 100);
        assert!(!tool["title"].as_str().unwrap().is_empty());
        jsonschema::draft202012::meta::validate(&tool["inputSchema"]).unwrap();
        jsonschema::draft202012::meta::validate(&tool["outputSchema"]).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_make_no_sense_are_errors_of_the_protocol_and_the_connection_goes_on() {
    let world = World::new().await;
    for era in [Era::Handshake, Era::Stateless] {
        let server = Server::new(world.belljar.clone(), agent("ana", &[]), Options::default());
        let mut client = Client::start_in(era, server).await;
        for (method, params, code) in [
            ("tools/call", json!({ "name": "no_such_tool", "arguments": {} }), -32602),
            ("tools/call", json!({ "name": 5, "arguments": {} }), -32602),
            ("tools/call", json!({}), -32602),
            ("resources/read", json!({}), -32602),
            ("resources/read", json!({ "uri": 5 }), -32602),
            ("prompts/get", json!({ "name": "x" }), -32601),
            ("skills/list", json!({}), -32601),
            ("no/such/method", json!({}), -32601),
        ] {
            let answer = client.request(method, params).await;
            assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
        }
        for (line, code, id) in [
            ("not json".to_owned(), -32700, json!(null)),
            ("[]".to_owned(), -32600, json!(null)),
            ("5".to_owned(), -32600, json!(null)),
            ("{\"jsonrpc\":\"2.0\",\"id\":null}".to_owned(), -32600, json!(null)),
            ("{\"jsonrpc\":\"2.0\",\"id\":\"a\"}".to_owned(), -32600, json!("a")),
            (nested(200), -32600, json!(77)),
            (nested(100_000), -32600, json!(77)),
        ] {
            client.line(&line).await;
            let answer = client.next().await.unwrap();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{answer}");
        }
        // What is for others is passed over.
        for line in ["", "\r", "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\",\"params\":{}}"] {
            client.line(line).await;
        }
        assert_eq!(client.data("recall_cloud_skill", json!({})).await, json!({ "skills": [], "more": false }));
    }
}

/// A call whose arguments are nested so deeply.
fn nested(levels: usize) -> String {
    let (open, close) = ("[".repeat(levels), "]".repeat(levels));
    let arguments = format!("{{\"script_path\":\"a.sh\",\"slug\":\"demo\",\"input_args\":{{\"a\":{open}{close}}}}}");
    let params = format!("{{\"name\":\"execute_cloud_skill\",\"arguments\":{arguments}}}");
    format!("{{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"tools/call\",\"params\":{params}}}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_megabytes_is_read_and_one_beyond_all_measure_does_no_harm() {
    let world = World::new().await;
    let mut client = world.client().await;
    let content = "x".repeat(900 * 1024);
    let files: Vec<_> = (0..12).map(|number| (format!("references/{number}.md"), content.as_str())).collect();
    let files: Vec<_> = files.iter().map(|(path, content)| (path.as_str(), *content)).collect();
    let saved = client.data("save_cloud_skill", saving("large", &files)).await;
    assert_eq!(saved["components"].as_array().unwrap().len(), 13);
    let beyond = format!("\"{}\"", "x".repeat(65 * 1024 * 1024));
    client.line(&beyond).await;
    let refused = client.next().await.unwrap();
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &json!(null)), "{refused}");
    assert_eq!(client.data("recall_cloud_skill", json!({ "slug": "large" })).await["revision_number"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_at_once_are_each_answered() {
    let world = World::new().await;
    let mut client = world.client().await;
    world.approved(&mut client, "demo", "input").await;
    let mut sent = Vec::new();
    for number in 0..20 {
        let call = json!({ "slug": "demo", "script_path": "scripts/a.sh", "input_args": { "number": number } });
        sent.push(client.send("tools/call", json!({ "name": "execute_cloud_skill", "arguments": call })).await);
    }
    let mut answers = std::collections::BTreeMap::new();
    while answers.len() < sent.len() {
        let message = client.next().await.unwrap();
        answers.insert(message["id"].as_u64().unwrap(), message);
    }
    for (number, id) in sent.iter().enumerate() {
        let data: &Value = &answers[id]["result"]["structuredContent"]["data"];
        assert_eq!(data["output_data"]["input"], json!({ "number": number }).to_string());
    }
    world.assert_trail_is_whole().await;
}
