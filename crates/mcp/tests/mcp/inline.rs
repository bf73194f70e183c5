//! Streams that are longer than an answer.

use belljar_executor::Digest;
use belljar_mcp::Options;
use serde_json::json;

use crate::world::{World, agent};

const LEAST: usize = 1024;

#[tokio::test(flavor = "multi_thread")]
async fn exactly_the_limit_is_whole_and_a_byte_more_is_cut_between_characters() {
    let world = World::new().await;
    let mut client = world.client_of(agent("ana", &[]), Options::new(LEAST).unwrap()).await;
    for (name, script, shown) in [
        ("below", format!("repeat {} x", LEAST - 1), None),
        ("exactly", format!("repeat {LEAST} x"), None),
        ("above", format!("repeat {} x", LEAST + 1), Some(LEAST)),
        // 1024 is not a multiple of three: the last character does not fit.
        ("wide", format!("repeat {LEAST} €"), Some(LEAST - 1)),
    ] {
        world.approved(&mut client, name, &script).await;
        let result = client.call("execute_cloud_skill", json!({ "slug": name, "script_path": "scripts/a.sh" })).await;
        let data = &result["structuredContent"]["data"];
        for stream in ["stdout", "stderr"] {
            let inline = data.get(format!("{stream}_inline_bytes")).and_then(serde_json::Value::as_u64);
            assert_eq!(inline, shown.map(|bytes| bytes as u64), "{name}");
            // That flag means the cap of what is kept.
            assert_eq!(data[format!("{stream}_truncated")], false);
            assert!(data[stream].as_str().unwrap().len() <= LEAST);
        }
        let blocks = if shown.is_some() { 5 } else { 1 };
        assert_eq!(result["content"].as_array().unwrap().len(), blocks, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rest_is_read_by_its_link_as_its_size_and_digest_say() {
    let world = World::new().await;
    let mut client = world.client().await;
    world.approved(&mut client, "demo", "repeat 100000 abc").await;
    let result = client.call("execute_cloud_skill", json!({ "slug": "demo", "script_path": "scripts/a.sh" })).await;
    let data = &result["structuredContent"]["data"];
    // More than what is kept was written, and of that a part is shown: two things, told apart.
    assert_eq!((&data["stdout_truncated"], &data["stdout_inline_bytes"]), (&json!(true), &json!(16 * 1024)));
    let content = result["content"].as_array().unwrap();
    let notice = content[1]["text"].as_str().unwrap();
    assert!(notice.contains("the first 16384 of 262144 bytes") && notice.contains("cut at the limit"), "{notice}");
    let link = &content[2];
    assert_eq!((&link["type"], &link["size"]), (&json!("resource_link"), &json!(262_144)));
    let uri = link["uri"].as_str().unwrap();
    assert!(notice.contains(uri));
    let read = client.request("resources/read", json!({ "uri": uri })).await;
    let contents = &read["result"]["contents"][0];
    let text = contents["text"].as_str().unwrap();
    assert_eq!(text.len(), 262_144);
    let digest = format!("sha256:{}", Digest::of(text.as_bytes()).to_string().to_lowercase());
    assert_eq!(
        (&link["_meta"]["belljar/digest"], &contents["_meta"]["belljar/digest"]),
        (&json!(digest), &json!(digest))
    );
    // The template that is listed is the one that is read by.
    let templates = client.request("resources/templates/list", json!({})).await;
    let template = templates["result"]["resourceTemplates"][0]["uriTemplate"].as_str().unwrap().to_owned();
    let id = data["execution_id"].as_str().unwrap();
    assert_eq!(template.replace("{execution_id}", id).replace("{stream}", "stdout"), uri);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_reads_anothers_streams_nor_learns_that_they_are_there() {
    let world = World::new().await;
    let mut ana = world.client().await;
    world.approved(&mut ana, "demo", "exit 0").await;
    let data = ana.call("execute_cloud_skill", json!({ "slug": "demo", "script_path": "scripts/a.sh" })).await;
    let id = data["structuredContent"]["data"]["execution_id"].as_str().unwrap().to_owned();
    let uri = |id: &str, stream: &str| format!("belljar://executions/{id}/{stream}");
    let own = ana.request("resources/read", json!({ "uri": uri(&id, "stderr") })).await;
    assert_eq!(own["result"]["contents"][0]["text"], "err");
    let mut ben = world.client_of(agent("ben", &["red"]), Options::default()).await;
    let theirs = ben.request("resources/read", json!({ "uri": uri(&id, "stdout") })).await;
    let unknown = ben.request("resources/read", json!({ "uri": uri("nothing", "stdout") })).await;
    let without = |answer: &serde_json::Value| answer["error"].to_string().replace(&id, "ID").replace("nothing", "ID");
    assert_eq!((without(&theirs), &theirs["error"]["code"]), (without(&unknown), &json!(-32602)));
    for wrong in ["belljar://executions/", "file:///etc/passwd", &uri(&id, "stdin"), &uri("../x", "stdout"), ""] {
        let answer = ana.request("resources/read", json!({ "uri": wrong })).await;
        assert_eq!(answer["error"]["code"], -32602, "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn output_data_is_of_the_whole_stream_or_not_there() {
    let world = World::new().await;
    let mut client = world.client_of(agent("ana", &[]), Options::new(LEAST).unwrap()).await;
    for (name, text, expected) in [
        ("small", r#"{"a": [1, 2]}"#.to_owned(), Some(json!({ "a": [1, 2] }))),
        ("list", "[]".to_owned(), Some(json!([]))),
        ("number", "5".to_owned(), None),
        ("words", "{} and more".to_owned(), None),
        // Its stream is cut, and the data fits all the same.
        ("blank", format!("{{\"a\":{}1}}", " ".repeat(LEAST)), Some(json!({ "a": 1 }))),
        ("large", format!("[\"{}\"]", "x".repeat(LEAST)), None),
    ] {
        world.approved(&mut client, name, &format!("print {text}")).await;
        let data = client.data("execute_cloud_skill", json!({ "slug": name, "script_path": "scripts/a.sh" })).await;
        assert_eq!(data.get("output_data"), expected.as_ref(), "{name}");
    }
}

#[test]
fn the_limit_has_a_least_and_a_most() {
    for (bytes, is_good) in [(0, false), (1023, false), (1024, true), (1_048_576, true), (1_048_577, false)] {
        assert_eq!(Options::new(bytes).is_ok(), is_good, "{bytes}");
    }
}
