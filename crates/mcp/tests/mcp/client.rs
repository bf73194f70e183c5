//! A client that speaks the protocol line by line, and holds every result of a tool to its schema.

use std::collections::BTreeMap;

use belljar_mcp::{ServeError, Server, serve};
use jsonschema::Validator;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How a client speaks: with a handshake, or with its version in each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Handshake,
    Stateless,
}

pub(crate) struct Client {
    input: Option<WriteHalf<DuplexStream>>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub(crate) served: JoinHandle<Result<(), ServeError>>,
    stop: Option<oneshot::Sender<()>>,
    era: Era,
    last: u64,
    schemas: BTreeMap<String, Validator>,
    /// What came beside answers.
    pub(crate) notifications: Vec<Value>,
}

impl Client {
    pub(crate) async fn start(server: Server) -> Self {
        Self::start_in(Era::Stateless, server).await
    }

    pub(crate) async fn start_in(era: Era, server: Server) -> Self {
        let mut client = Self::connect(era, server);
        if era == Era::Handshake {
            let params = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            });
            let answer = client.request("initialize", params).await;
            assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
            client.notify("notifications/initialized", json!({})).await;
        }
        let listed = client.request("tools/list", json!({})).await;
        for tool in listed["result"]["tools"].as_array().unwrap() {
            let mut schema = tool["outputSchema"].clone();
            close(&mut schema);
            let validator = jsonschema::draft202012::new(&schema).unwrap();
            client.schemas.insert(tool["name"].as_str().unwrap().to_owned(), validator);
        }
        client
    }

    /// Connects, and says nothing.
    pub(crate) fn connect(era: Era, server: Server) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (read, write) = tokio::io::split(theirs);
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            let stop = async {
                if stopped.await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            serve(server, read, write, stop).await
        });
        let (output, input) = tokio::io::split(ours);
        let output = BufReader::new(output).lines();
        let (schemas, notifications) = Default::default();
        Self { input: Some(input), output, served, stop: Some(stop), era, last: 0, schemas, notifications }
    }

    pub(crate) async fn line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()).await;
    }

    /// Sends a request and gives its id.
    pub(crate) async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.last += 1;
        if self.era == Era::Stateless {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let request = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        self.line(&request.to_string()).await;
        self.last
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = self.output.next_line().await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// The answer to a request.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().await.expect("an answer");
            if message["id"] == id {
                return message;
            }
            self.notifications.push(message);
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.answer(id).await
    }

    /// Calls a tool; its result is as its schema says, and says the same twice.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        self.checked(tool, &answer)
    }

    pub(crate) fn checked(&self, tool: &str, answer: &Value) -> Value {
        let result = answer["result"].clone();
        assert!(result.is_object(), "{answer}");
        let envelope = &result["structuredContent"];
        let faults: Vec<_> = self.schemas[tool].iter_errors(envelope).map(|error| error.to_string()).collect();
        assert_eq!(faults, Vec::<String>::new(), "{envelope}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), *envelope);
        assert_eq!(result.get("resultType").is_some(), self.era == Era::Stateless, "{result}");
        result
    }

    /// The data of a call that went well.
    pub(crate) async fn data(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"]["data"].clone()
    }

    /// The error of a call that was refused.
    pub(crate) async fn error(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!((&result["isError"], &result["structuredContent"]["kind"]), (&json!(true), &json!("error")));
        result["structuredContent"]["error"].clone()
    }

    /// Ends the input.
    pub(crate) async fn end_input(&mut self) {
        self.input.take().unwrap().shutdown().await.unwrap();
    }

    /// Goes away in both directions.
    pub(crate) fn disconnect(self) -> JoinHandle<Result<(), ServeError>> {
        self.served
    }

    /// Stops the server, as its operator would.
    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }
}

/// Makes a schema refuse what it does not name.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(close);
            let is_described = object.get("properties").is_some_and(|properties| properties.get("kind").is_none());
            if is_described && object.contains_key("type") {
                object.insert("additionalProperties".into(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
