//! `belljar mcp`: the real program as an agent host starts it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Place, binary, eventually, json, program, text};

/// A host's end of the pipes.
struct Host {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Host {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, last: 0 }
    }

    fn send(&mut self, method: &str, mut params: Value) {
        self.last += 1;
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let request = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        writeln!(self.input.as_mut().unwrap(), "{request}").unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params);
        self.answer()
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
        let message = json(&line);
        assert_eq!(message["id"], self.last, "{message}");
        message
    }

    /// The envelope of a tool's answer.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        answer["result"]["structuredContent"].clone()
    }

    /// Ends the input; gives the exit code, what else was on standard output, and standard error.
    fn end(mut self) -> (Option<i32>, String, String) {
        drop(self.input.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.output, &mut rest).unwrap();
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), rest, String::from_utf8(output.stderr).unwrap())
    }
}

fn saving(name: &str, script: &str) -> Value {
    let components = json!([{ "path": "scripts/a.sh", "content": script }]);
    json!({ "name": name, "description": "For tests.", "components_json": components.to_string() })
}

/// What runs the one script.
fn call(name: &str) -> Value {
    json!({ "slug": name, "script_path": "scripts/a.sh", "input_args": { "token": "hush-hush", "a": 1 } })
}

fn approve(place: &Place) {
    let waiting = place.belljar(&["grant", "list", "--pending", "--json"]).json();
    for pending in waiting["data"].as_array().unwrap() {
        let told = place.belljar(&["grant", "add", "--pending", pending["id"].as_str().unwrap()]);
        assert_eq!(told.code, Some(0), "{told:?}");
    }
}

#[test]
fn an_agent_saves_is_refused_a_person_approves_and_it_runs_in_the_sandbox() {
    let place = Place::new();
    let mut host = Host::start(&mut place.command(&["mcp"]));
    assert_eq!(host.call("save_cloud_skill", &saving("demo", "cat"))["kind"], "skill");
    let refused = host.call("execute_cloud_skill", &call("demo"));
    assert_eq!(refused["error"]["details"]["reason"], "grant_missing");
    let id = refused["error"]["details"]["pending_id"].as_str().unwrap().to_owned();
    assert_eq!(place.belljar(&["grant", "add", "--pending", &id]).code, Some(0));
    let ran = host.call("execute_cloud_skill", &call("demo"));
    let data = &ran["data"];
    assert_eq!((&data["status"], &data["executor"]), (&json!("success"), &json!("bubblewrap")), "{ran}");
    assert_eq!(data["stdout"], r#"{"token":"hush-hush","a":1}"#);
    assert_eq!(host.end(), (Some(0), String::new(), String::new()));
    // The command line shows the same run.
    let listed = place.belljar(&["exec", "list", "--json"]).json();
    assert_eq!(listed["data"][0]["execution_id"], data["execution_id"]);
    place.assert_trail_is_whole();
}

#[test]
fn an_agent_can_neither_approve_nor_read_what_approves() {
    let place = Place::new();
    let mut host = Host::start(&mut place.command(&["mcp"]));
    host.call("save_cloud_skill", &saving("demo", "echo"));
    let refused = host.call("execute_cloud_skill", &call("demo"));
    let waiting = place.belljar(&["grant", "list", "--pending", "--json"]).json();
    let pin = waiting["data"][0]["pin"].as_str().unwrap();
    let recalled = host.call("recall_cloud_skill", &json!({ "slug": "demo" }));
    assert!(!refused.to_string().contains(pin) && !recalled.to_string().contains(pin));
    // What would let it is no configuration.
    for scope in ["skills:grant", "platform:admin", "everything"] {
        let file = place.path("config.toml");
        std::fs::write(&file, format!("[local]\nmcp_scopes = [\"memory:read\", \"{scope}\"]\n")).unwrap();
        let told = place.belljar(&["--config", text(&file), "mcp"]);
        assert!(told.code == Some(125) && told.stdout.is_empty(), "{told:?}");
        assert!(told.stderr.contains(scope) && told.stderr.contains("memory:write"), "{told:?}");
    }
}

#[test]
fn the_scopes_and_the_inline_limit_of_the_configuration_hold() {
    let place = Place::new();
    let folder = place.script("printf '%02000d' 7");
    place.run(&["--timeout", "5"]);
    let base = place.belljar(&["config", "show"]).stdout;
    let file = place.path("config.toml");
    let configured = |from: &str, to: &str| {
        assert!(base.contains(from), "{base}");
        std::fs::write(&file, base.replace(from, to)).unwrap();
        place.command(&["--config", text(&file), "mcp"])
    };
    let mut host = Host::start(&mut configured("inline_output_bytes = 16384", "inline_output_bytes = 1024"));
    let arguments = json!({ "slug": "demo", "script_path": "scripts/a.sh" });
    let data = host.call("execute_cloud_skill", &arguments)["data"].clone();
    assert_eq!((&data["stdout_inline_bytes"], data["stdout"].as_str().unwrap().len()), (&json!(1024), 1024));
    host.end();
    let mut reader = configured("[\"memory:read\", \"memory:write\"]", "[\"memory:read\"]");
    let mut host = Host::start(&mut reader);
    assert_eq!(host.call("recall_cloud_skill", &json!({ "slug": "demo" }))["kind"], "skill");
    assert_eq!(host.call("save_cloud_skill", &saving("other", "echo"))["error"]["code"], "ACCESS_DENIED");
    host.end();
    let told =
        crate::support::told(configured("inline_output_bytes = 16384", "inline_output_bytes = 1").stdin(Stdio::null()));
    assert!(told.code == Some(125) && told.stderr.contains("mcp.inline_output_bytes"), "{told:?}");
    let told = place.belljar(&["--config", text(&file), "config", "check"]);
    assert!(told.code == Some(125) && told.stderr.contains("mcp.inline_output_bytes"), "{told:?}");
    drop(folder);
}

/// Starts a script that would sleep for a minute.
fn sleeping(place: &Place) -> Host {
    let mut host = Host::start(&mut place.command(&["mcp"]));
    host.call("save_cloud_skill", &saving("demo", "sleep 61.5"));
    host.call("execute_cloud_skill", &call("demo"));
    approve(place);
    host.send("tools/call", json!({ "name": "execute_cloud_skill", "arguments": call("demo") }));
    eventually("the run is on the record", || place.actions().iter().any(|action| action == "script.run"));
    host
}

fn status(place: &Place) -> Value {
    place.belljar(&["exec", "list", "--json"]).json()["data"][0]["status"].clone()
}

#[test]
fn the_end_of_input_ends_the_run_and_records_it() {
    let place = Place::new();
    let host = sleeping(&place);
    let (code, rest, _) = host.end();
    assert_eq!((code, status(&place)), (Some(0), json!("cancelled")));
    // Whoever still listens hears it.
    assert_eq!(json(&rest)["result"]["structuredContent"]["data"]["status"], "cancelled");
    place.assert_trail_is_whole();
}

#[test]
fn a_signal_ends_the_run_records_it_and_tells_the_host() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let place = Place::new();
        let mut host = sleeping(&place);
        assert!(program("kill").args([signal, &host.child.id().to_string()]).status().unwrap().success());
        let answer = host.answer();
        assert_eq!(answer["result"]["structuredContent"]["data"]["status"], "cancelled");
        let (code, rest, _) = host.end();
        assert_eq!((code, rest, status(&place)), (Some(130), String::new(), json!("cancelled")));
        place.assert_trail_is_whole();
    }
}

#[test]
fn a_host_that_is_killed_leaves_nothing_running() {
    let place = Place::new();
    let mut host = sleeping(&place);
    drop((host.input.take(), host.output));
    host.child.wait().unwrap();
    assert_eq!(status(&place), "cancelled");
    place.assert_trail_is_whole();
}

#[test]
fn a_program_that_is_killed_leaves_its_run_to_the_next_as_lost() {
    let place = Place::new();
    let mut host = sleeping(&place);
    host.child.kill().unwrap();
    host.child.wait().unwrap();
    let mut host = Host::start(&mut place.command(&["mcp"]));
    let context = host.call("recall_context", &json!({ "query": "demo" }));
    assert_eq!(context["data"]["skills"][0]["executions"][0]["status"], "lost", "{context}");
    host.end();
    place.assert_trail_is_whole();
}

#[test]
fn the_log_tells_nothing_that_a_message_holds_however_much_it_is_asked() {
    let place = Place::new();
    let mut command = place.command(&["mcp"]);
    let mut host = Host::start(command.env("BELLJAR_LOG", "trace,rmcp=trace"));
    host.call("save_cloud_skill", &saving("demo", "cat"));
    host.call("execute_cloud_skill", &call("demo"));
    approve(&place);
    assert!(host.call("execute_cloud_skill", &call("demo")).to_string().contains("hush-hush"));
    let (code, rest, log) = host.end();
    assert_eq!((code, rest), (Some(0), String::new()));
    assert!(!log.contains("hush-hush"), "{log}");
    assert!(log.contains("execute_skill_script"), "something is logged: {log}");
}

#[test]
fn the_printed_configuration_starts_the_very_server_it_was_printed_for() {
    let place = Place::new();
    let file = place.path("a config.toml");
    std::fs::write(&file, place.belljar(&["config", "show"]).stdout).unwrap();
    let mut command = program(binary());
    command.args(["--state", "relative state", "--config", "a config.toml", "mcp", "--print-config"]);
    let printed = crate::support::told(command.current_dir(place.path("")).env("HOME", place.path("")));
    assert_eq!(printed.code, Some(0), "{printed:?}");
    let server = &printed.json()["mcpServers"]["belljar"];
    let words: Vec<_> = server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let mut started = program(server["command"].as_str().unwrap());
    let mut host = Host::start(started.args(&words).current_dir("/"));
    assert_eq!(host.call("save_cloud_skill", &saving("demo", "cat"))["kind"], "skill");
    host.end();
    assert!(place.path("relative state/belljar.db").exists());
    // Without names it says nothing of places, and takes those that the host's user has.
    let mut command = program(binary());
    let printed = crate::support::told(command.args(["mcp", "--print-config"]));
    assert_eq!(printed.json()["mcpServers"]["belljar"]["args"], json!(["mcp"]));
}

#[test]
fn without_a_sandbox_skills_can_be_saved_and_recalled_and_nothing_runs() {
    let place = Place::new();
    let base = place.belljar(&["config", "show"]).stdout;
    let file = place.path("config.toml");
    let broken = format!("{}\n", base.replace("[bubblewrap]", "[bubblewrap]\nprogram = \"/usr/bin/false\""));
    std::fs::write(&file, broken).unwrap();
    let mut host = Host::start(&mut place.command(&["--config", text(&file), "mcp"]));
    assert_eq!(host.call("save_cloud_skill", &saving("demo", "cat"))["kind"], "skill");
    assert_eq!(host.call("recall_cloud_skill", &json!({ "slug": "demo" }))["kind"], "skill");
    host.call("execute_cloud_skill", &call("demo"));
    approve(&place);
    let refused = host.call("execute_cloud_skill", &call("demo"));
    assert_eq!(refused["error"]["code"], "SANDBOX_UNAVAILABLE", "{refused}");
    host.end();
    assert!(!place.actions().contains(&"script.run".to_owned()));
}
