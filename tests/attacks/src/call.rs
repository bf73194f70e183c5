//! One call of the program under test, and its answer.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::pass::Pass;
use crate::reaper::{self, Report};
use crate::scene::Scene;
use crate::witness;

/// After which time a call that does not end is ended.
const HUNG_AFTER: Duration = Duration::from_secs(40);

/// How many characters of a text a failure shows.
const SHOWN: usize = 3000;

/// The data of an envelope of kind `execution`, as far as it is looked at.
#[derive(Debug, Deserialize)]
pub(crate) struct Execution {
    pub(crate) executor: String,
    pub(crate) status: String,
    pub(crate) exit_code: Option<i64>,
    pub(crate) signal: Option<Value>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) stdout_truncated: bool,
    pub(crate) stderr_truncated: bool,
    pub(crate) output_data: Option<Value>,
    pub(crate) memory_peak_bytes: Option<u64>,
    #[serde(default)]
    pub(crate) limits_hit: Vec<String>,
    pub(crate) duration_ms: u64,
}

/// What a call gave.
#[derive(Debug)]
pub(crate) struct Answer {
    stdout: Vec<u8>,
    stderr: String,
    /// What the reaper saw.
    pub(crate) report: Report,
    /// Whether the probed port could be reached while the script ran.
    pub(crate) port_reached: bool,
}

/// `belljar run` of the scene's script.
pub(crate) fn run(pass: &Pass, scene: &Scene, config: &Path, timeout_s: u64) -> Result<Answer> {
    let mut arguments = vec!["--config".to_owned(), config.display().to_string(), "run".to_owned()];
    arguments.extend([scene.skill().display().to_string(), scene.script.clone()]);
    arguments.extend(["--grant", "--json", "--state"].map(str::to_owned));
    arguments.extend([pass.state().display().to_string(), "--timeout".to_owned(), timeout_s.to_string()]);
    if let Some(input) = &scene.input {
        arguments.extend(["--input".to_owned(), format!("@{}", input.display())]);
    }
    let (report, stdout, stderr) = (scene.file("reaper.json"), scene.file("stdout"), scene.file("stderr"));
    let mut command = reaper::start(std::env::current_exe()?);
    command.args(reaper::arguments(HUNG_AFTER, &report)).args(pass.belljar()).args(arguments);
    command.env_clear().envs(scene.environment()).current_dir(scene.cwd());
    command.stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
    let stop = &AtomicBool::new(false);
    let (status, port_reached) = std::thread::scope(|scope| {
        let prober = scene.probed_port.map(|port| scope.spawn(move || witness::reaches(port, stop)));
        let status = command.status();
        stop.store(true, Ordering::Relaxed);
        (status, prober.is_some_and(|prober| prober.join().unwrap_or(true)))
    });
    let stderr = String::from_utf8_lossy(&fs::read(stderr)?).into_owned();
    ensure!(status?.success(), "the reaper failed: {stderr}");
    let report = serde_json::from_slice(&fs::read(report)?).context("the reaper's report")?;
    Ok(Answer { stdout: fs::read(stdout)?, stderr, report, port_reached })
}

impl Answer {
    /// The one document on standard output.
    pub(crate) fn envelope(&self) -> Result<Value> {
        serde_json::from_slice(&self.stdout).context("standard output is not one JSON document in UTF-8")
    }

    /// The execution in it.
    pub(crate) fn execution(&self) -> Result<Execution> {
        let envelope = self.envelope()?;
        ensure!(envelope["kind"] == "execution", "the envelope is no execution: {}", envelope["error"]["code"]);
        Execution::deserialize(&envelope["data"]).context("the envelope's data")
    }

    /// All of it, for somebody who looks for a cause.
    pub(crate) fn describe(&self) -> String {
        let envelope = self.envelope().and_then(|mut envelope| {
            for stream in ["stdout", "stderr"] {
                if let Some(Value::String(text)) = envelope["data"].get_mut(stream) {
                    *text = shorten(text);
                }
            }
            Ok(serde_json::to_string_pretty(&envelope)?)
        });
        let envelope = envelope.unwrap_or_else(|_| shorten(&String::from_utf8_lossy(&self.stdout)));
        format!("{:?}\nstandard output: {envelope}\nstandard error: {}", self.report, shorten(&self.stderr))
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} … ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
