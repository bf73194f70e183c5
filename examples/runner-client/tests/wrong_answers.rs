//! Runners that answer nonsense, or not at all: a fault, or nothing ran; never a result.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::error::Error as _;
use std::time::Duration;

use belljar_example_runner_client::RunnerServiceExecutor;
use belljar_executor::{
    Cancel, ExecutionRequest, Executor, ExecutorError, FileTree, Interpreter, LanguageKey, Limits, LimitsClass, Origin,
    Outcome, RequestParts, WorkingDirectory,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

fn request() -> ExecutionRequest {
    ExecutionRequest::new(RequestParts {
        tenant_id: "acme".parse().unwrap(),
        run_id: None,
        execution_id: "e1".parse().unwrap(),
        skill_name: "demo".parse().unwrap(),
        script_name: "a.sh".parse().unwrap(),
        script_path: "scripts/a.sh".parse().unwrap(),
        origin: Origin::Stored,
        interpreter: Interpreter::parse("sh").unwrap(),
        language: LanguageKey::parse("sh").unwrap(),
        extension: "sh".into(),
        content: "echo hello".into(),
        source_path: None,
        arguments_json: None,
        argv: Vec::new(),
        cwd: WorkingDirectory::Workspace,
        standalone: false,
        files: FileTree::new(BTreeMap::new()),
        limits_class: LimitsClass::parse("standard").unwrap(),
        limits: Limits::default(),
        timeout: Duration::from_secs(5),
        max_output_bytes: 100,
    })
}

/// What the client makes of a runner that answers with these bytes to whatever it is asked.
async fn answer_to(answer: Vec<u8>) -> Result<Outcome, ExecutorError> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = Vec::new();
        // The body is one JSON object and ends with its brace.
        while !asked.ends_with(b"}") {
            let mut piece = [0; 4096];
            let count = stream.read(&mut piece).await.unwrap();
            assert!(count > 0, "the client went away");
            asked.extend_from_slice(&piece[..count]);
        }
        // The client may stop reading when it has seen enough.
        let _ = stream.write_all(&answer).await;
        drop(stream);
        // Asked once: nobody comes again.
        tokio::time::timeout(Duration::from_millis(300), listener.accept()).await.is_err()
    };
    let executor = RunnerServiceExecutor::new(&format!("http://{address}/")).unwrap();
    let (outcome, asked_once) = tokio::join!(executor.execute(request(), Cancel::new()), serve);
    assert!(asked_once, "a run that may have started is never sent again");
    outcome
}

fn http(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn body(exit: &str, timed_out: bool) -> String {
    format!(r#"{{"exitCode":{exit},"standardOutput":"","standardError":"","truncated":false,"timedOut":{timed_out}}}"#)
}

#[tokio::test]
async fn an_honest_answer_is_a_result() {
    assert!(answer_to(http("200 OK", &body("0", false))).await.is_ok());
    assert!(answer_to(http("200 OK", &body("null", true))).await.is_ok());
}

#[tokio::test]
async fn nonsense_is_a_fault_and_never_a_result() {
    let long =
        body("0", false).replace("\"standardError\":\"\"", &format!("\"standardError\":\"{}\"", "x".repeat(99_999)));
    for answer in [
        http("200 OK", &body("0", true)),
        http("200 OK", &body("null", false)),
        http("200 OK", "{}"),
        http("200 OK", "<html>hello</html>"),
        http("200 OK", &long),
        http("500 Internal Server Error", &body("0", false)),
        http("204 No Content", ""),
        http("307 Temporary Redirect\r\nlocation: /runs", ""),
        b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"exitCode\":0".to_vec(),
        b"not HTTP at all\r\n\r\n".to_vec(),
        Vec::new(),
    ] {
        let shown = String::from_utf8_lossy(&answer[..answer.len().min(200)]).into_owned();
        let error = answer_to(answer).await.unwrap_err();
        assert_eq!(error.kind(), "Fault", "{shown}");
        assert!(error.source().is_some(), "the log gets the cause: {shown}");
    }
}

#[tokio::test]
async fn where_nothing_ran_nothing_is_blamed_on_the_script() {
    let busy = answer_to(http("429 Too Many Requests", "")).await.unwrap_err();
    assert_eq!(busy.kind(), "Unavailable");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let executor = RunnerServiceExecutor::new(&format!("http://{address}/")).unwrap();
    let refused = executor.execute(request(), Cancel::new()).await.unwrap_err();
    assert_eq!(refused.kind(), "Unavailable");
}

#[tokio::test]
async fn what_the_form_cannot_carry_is_not_sent() {
    let mut parts = request().parts().clone();
    parts.argv = vec!["--all".into()];
    // Nobody listens there: a request that was sent would be unavailable instead.
    let executor = RunnerServiceExecutor::new("http://127.0.0.1:1/").unwrap();
    let error = executor.execute(ExecutionRequest::new(parts), Cancel::new()).await.unwrap_err();
    assert_eq!(error.kind(), "Fault");
    assert!(error.source().unwrap().to_string().contains("command-line arguments"));
}
