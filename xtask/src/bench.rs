//! What takes how long, measured on this machine with the released form of the program.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{belljar_of, cargo, command, run, say};
use crate::setup;

/// How many skills are searched: a few, and many.
const SKILLS: [usize; 2] = [1_000, 10_000];
/// Queries that are measured, after as many to warm up as a tenth of them.
const QUERIES: usize = 1_000;
/// Saves that are under way at once.
const AT_ONCE: usize = 64;
/// Two of these are in every skill's texts, and queries ask for them.
const WORDS: [&str; 20] = [
    "deploy",
    "invoice",
    "weather",
    "ledger",
    "pipeline",
    "schema",
    "tenant",
    "report",
    "archive",
    "migrate",
    "audit",
    "forecast",
    "customer",
    "shipment",
    "contract",
    "backup",
    "translate",
    "summary",
    "calendar",
    "payroll",
];

/// Measures, and prints one table.
pub(crate) fn run_task() -> Result<()> {
    setup::run_if_missing()?;
    run(cargo().args(["build", "--package", "belljar", "--release", "--locked"]))?;
    let binary = belljar_of("release")?;
    let mut medians = Vec::new();
    let mut lines = Vec::new();
    for skills in SKILLS {
        say(&format!("recall: saving {skills} skills"));
        let times = recall(&binary, skills)?;
        let (p50, p99) = (percentile(&times, 50), percentile(&times, 99));
        medians.push(p50);
        lines.push(format!(
            "recall by query over MCP, {skills} skills    p50 {p50:.2?}    p99 {p99:.2?}    {QUERIES} queries"
        ));
    }
    say("");
    lines.iter().for_each(|line| say(line));
    let growth = medians[1].as_secs_f64() / medians[0].as_secs_f64();
    say(&format!("from {} to {} skills the median grows {growth:.1} times", SKILLS[0], SKILLS[1]));
    Ok(())
}

/// The sorted times of queries over so many skills.
#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn recall(binary: &Path, skills: usize) -> Result<Vec<Duration>> {
    let folder = TempDir::new().context("a temporary folder")?;
    let mut agent = Agent::start(binary, folder.path())?;
    let word = |number: usize| WORDS[number % WORDS.len()];
    for first in (0..skills).step_by(AT_ONCE) {
        let numbers = first..skills.min(first + AT_ONCE);
        for number in numbers.clone() {
            let instructions = format!("To {} step by step, see reference {number}. ", word(number / 20)).repeat(8);
            agent.send(
                "save_cloud_skill",
                &json!({
                    "name": format!("skill-{number}"),
                    "description": format!("Helps to {} what {} brings.", word(number), word(number / 7)),
                    "instructions": instructions,
                    "publish": true,
                }),
            )?;
        }
        for _ in numbers {
            let envelope = agent.envelope()?;
            ensure!(envelope["kind"] == "skill", "{envelope}");
        }
    }
    let mut times = Vec::with_capacity(QUERIES);
    for number in 0..QUERIES + QUERIES / 10 {
        let query = format!("{} {}", word(number), &word(number / 3 + 1)[..4]);
        let started = Instant::now();
        agent.send("recall_cloud_skill", &json!({ "query": query }))?;
        let envelope = agent.envelope()?;
        let took = started.elapsed();
        ensure!(envelope["data"]["skills"].as_array().is_some_and(|found| !found.is_empty()), "{envelope}");
        times.push(took);
    }
    times.drain(..QUERIES / 10);
    times.sort();
    Ok(times)
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

/// A server, and this end of its pipes.
struct Agent {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Agent {
    fn start(binary: &Path, state: &Path) -> Result<Self> {
        let mut server = command(binary);
        server.arg("mcp").env("BELLJAR_STATE", PathBuf::from(state)).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = server.spawn().context("belljar mcp cannot be started")?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self { child, input, output, last: 0 })
    }

    fn send(&mut self, tool: &str, arguments: &Value) -> Result<()> {
        self.last += 1;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let request = json!({ "jsonrpc": "2.0", "id": self.last, "method": "tools/call", "params": params });
        writeln!(self.input, "{request}").context("the server does not read")
    }

    fn envelope(&mut self) -> Result<Value> {
        let mut line = String::new();
        ensure!(self.output.read_line(&mut line)? > 0, "the server has ended");
        let mut answer: Value = serde_json::from_str(&line)?;
        Ok(answer["result"]["structuredContent"].take())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
