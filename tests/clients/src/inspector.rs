//! The command line of the MCP Inspector, started from the printed configuration.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::place::{Place, succeeded, text};
use crate::programs::Programs;

fn inspect(place: &Place, arguments: &[&str]) -> Output {
    let file = place.path("servers.json");
    fs::write(&file, place.belljar(&["mcp", "--print-config"])).unwrap();
    let mut inspector = Programs::node().node_program("mcp-inspector");
    inspector.args(["--cli", "--config", text(&file), "--server", "belljar"]).args(arguments);
    inspector.env("HOME", place.path("")).env("MCP_INSPECTOR_SECRET_STORE", "memory").output().unwrap()
}

#[test]
fn it_lists_the_tools_and_finds_their_schemas_portable() {
    let place = Place::new();
    let output = inspect(&place, &["--method", "tools/list", "--strict"]);
    let listed: Value = serde_json::from_str(&succeeded(&output)).unwrap();
    let names: Vec<_> = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["recall_context", "recall_cloud_skill", "execute_cloud_skill", "save_cloud_skill"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!told.contains("warning") && !told.contains("error"), "{told}");
}

#[test]
fn it_calls_a_tool() {
    let place = Place::new();
    let save = ["--method", "tools/call", "--tool-name", "save_cloud_skill", "--tool-arg", "name=inspected"];
    let more = ["--tool-arg", "description=Looked at by a program.", "--tool-arg", "publish=true"];
    let saved: Value = serde_json::from_str(&succeeded(&inspect(&place, &[&save[..], &more].concat()))).unwrap();
    assert_eq!(saved["structuredContent"]["data"]["slug"], "inspected", "{saved}");
    let shown = place.json(&["skill", "show", "inspected"]);
    assert_eq!(shown["data"]["revision"]["id"], saved["structuredContent"]["data"]["revision_id"], "{shown}");
}
