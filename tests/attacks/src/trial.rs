//! One case for one user, from planting to verdict.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::json;

use crate::call::{self, Answer};
use crate::corpus::{Case, Input, Manifest};
use crate::host;
use crate::pass::Pass;
use crate::scene::Scene;
use crate::verdict::Run;

/// Other programs write to the host's disks as well: growth has to be seen this often to count.
const DISK_LOOKS: usize = 3;

/// What came of a case.
#[derive(Debug)]
struct Outcome {
    violations: Vec<String>,
    evidence: String,
}

/// Runs a case and all that it asks to be run after it.
pub(crate) fn run(pass: &Pass, manifest: &Manifest, case: &Case) -> Result<()> {
    once(pass, case)?;
    if let Some(next) = case.require.then_run.as_deref().and_then(|next| manifest.case(next)) {
        once(pass, next)?;
    }
    still_alive(pass)
}

fn once(pass: &Pass, case: &Case) -> Result<()> {
    let mut outcome = look(pass, case)?;
    for _ in 1..DISK_LOOKS {
        if !outcome.violations.iter().all(|violation| violation.starts_with("disk_delta_mb_max")) {
            break;
        }
        if outcome.violations.is_empty() {
            return Ok(());
        }
        outcome = look(pass, case)?;
    }
    if outcome.violations.is_empty() {
        return Ok(());
    }
    let mut text = format!("{}: {}\n", case.name, case.attempts);
    for violation in &outcome.violations {
        writeln!(text, "  violated: {violation}")?;
    }
    bail!("{text}{}", outcome.evidence)
}

fn look(pass: &Pass, case: &Case) -> Result<Outcome> {
    let mut scene = Scene::plant(pass, case)?;
    let used = host::used_space()?;
    let answer = call::run(pass, &scene, &pass.config(), case.timeout_s)?;
    let disk_growth = host::growth(&used, &host::used_space()?);
    let mut violations = left_behind(&answer);
    match answer.execution() {
        Ok(execution) => {
            if execution.executor != pass.executor {
                violations.push(format!("it ran in {}, not in {}", execution.executor, pass.executor));
            }
            let placeholders = &scene.placeholders;
            let run = Run { case, answer: &answer, execution: &execution, placeholders, disk_growth };
            violations.extend(run.violations());
        }
        Err(error) => violations.push(format!("status: {error:#}")),
    }
    violations.extend(scene.violations()?);
    scene.clear()?;
    Ok(Outcome { violations, evidence: answer.describe() })
}

/// What a program breaks that seals nothing, by the start of the violation: a harness that finds nothing
/// shows nothing.
const UNSEALED: [(&str, &str); 9] = [
    ("double_fork_daemon", "no_process_left"),
    ("connect_loopback", "listener_untouched"),
    ("hardlink_skill", "skill_unchanged"),
    ("other_run_temp", "canary_unchanged"),
    ("strange_names", "temp_removed"),
    ("listen_for_host", "port_closed"),
    ("read_environ", "the output holds"),
    ("stdout_10mb_then_exit", "utf8"),
    ("shell_environment", "stdout_lacks"),
];

/// The harness notices what a program lets through that seals nothing.
pub(crate) fn notices_what_is_not_sealed(pass: &Pass, manifest: &Manifest) -> Result<()> {
    for (name, expected) in UNSEALED {
        let case = manifest.case(name).with_context(|| name.to_owned())?;
        let found = look(pass, case)?.violations;
        ensure!(found.iter().any(|violation| violation.starts_with(expected)), "{name}: no {expected} in {found:#?}");
    }
    Ok(())
}

fn left_behind(answer: &Answer) -> Vec<String> {
    let report = &answer.report;
    let mut found: Vec<_> = report.survivors.iter().map(|process| format!("no_process_left: {process}")).collect();
    if report.hung {
        found.push("end_within_s: the program had to be ended by the harness".to_owned());
    }
    found
}

/// The next request is answered, from the same store.
fn still_alive(pass: &Pass) -> Result<()> {
    let scene = Scene::plant(pass, &greeting("alive", None))?;
    let answer = call::run(pass, &scene, &pass.config(), 10)?;
    let alive = answer.execution().is_ok_and(|execution| execution.status == "success");
    scene.clear()?;
    ensure!(alive, "service_alive: the next request failed\n{}", answer.describe());
    Ok(())
}

/// With no limit configured, four mebibytes of input are refused before anything starts.
pub(crate) fn default_limit_of_arguments(pass: &Pass) -> Result<()> {
    let case = greeting("large_input", Some(Input::JsonPad(4 << 20)));
    let mut scene = Scene::plant(pass, &case)?;
    let answer = call::run(pass, &scene, &pass.config_with_defaults(), case.timeout_s)?;
    let mut violations = left_behind(&answer);
    violations.extend(scene.violations()?);
    scene.clear()?;
    let envelope = answer.envelope()?;
    let error = &envelope["error"];
    let refused = envelope["kind"] == "error"
        && error["code"] == "SCRIPT_DENIED"
        && error["details"]["reason"] == json!("arguments_too_large")
        && answer.report.code == Some(125);
    ensure!(refused && violations.is_empty(), "{violations:#?}\n{}", answer.describe());
    Ok(())
}

/// An honest script, which is no case of the corpus.
fn greeting(name: &str, stdin: Option<Input>) -> Case {
    Case::honest(name, "stdin_exit_at_once.sh", stdin)
}
