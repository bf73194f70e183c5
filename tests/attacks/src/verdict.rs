//! The requirements of the manifest, applied to an answer. A violation is a sentence.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::call::{Answer, Execution};
use crate::corpus::{Case, Length};
use crate::placeholders::{Placeholders, SECRETS};
use crate::scene::CAP;

/// What a call may take beyond the run itself: the program starts, opens its store and probes the host.
const START_UP: Duration = Duration::from_secs(1);

/// One run that got to the executor.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) case: &'a Case,
    pub(crate) answer: &'a Answer,
    pub(crate) execution: &'a Execution,
    pub(crate) placeholders: &'a Placeholders,
    /// Growth of the host's file systems, bytes.
    pub(crate) disk_growth: u64,
}

/// Collects what does not hold.
#[derive(Default)]
struct Findings(Vec<String>);

impl Findings {
    fn expect(&mut self, holds: bool, violation: impl FnOnce() -> String) {
        if !holds {
            self.0.push(violation());
        }
    }
}

impl Run<'_> {
    /// Every requirement that the run broke.
    pub(crate) fn violations(&self) -> Vec<String> {
        let mut findings = Findings::default();
        self.ending(&mut findings);
        self.time(&mut findings);
        self.texts(&mut findings);
        self.lengths(&mut findings);
        self.resources(&mut findings);
        findings.0
    }

    fn ending(&self, findings: &mut Findings) {
        let (require, execution) = (&self.case.require, self.execution);
        let word = status_word(&execution.status);
        findings.expect(require.status.iter().any(|allowed| allowed == word), || {
            format!("status: {} ({word}), allowed are {:?}", execution.status, require.status)
        });
        let code = execution.exit_code;
        findings.expect((word == "timeout") == code.is_none(), || {
            format!("timeout_xor_exit_code: {} with exit code {code:?}", execution.status)
        });
        findings.expect(word != "timeout" || execution.signal.is_none(), || {
            format!("timeout_xor_exit_code: a time-out with signal {:?}", execution.signal)
        });
        let allowed = require.exit_code.as_deref().unwrap_or(&[]);
        findings.expect(allowed.is_empty() || allowed.contains(&code), || {
            format!("exit_code: {code:?}, allowed are {allowed:?}")
        });
        // The contract of the command line.
        let promised = match word {
            "timeout" => Some(124),
            "resource" => Some(137),
            _ => code,
        };
        let own = self.answer.report.code.map(i64::from);
        findings.expect(own == promised, || format!("the program's own exit code is {own:?}, not {promised:?}"));
    }

    fn time(&self, findings: &mut Findings) {
        let require = &self.case.require;
        let run = Duration::from_millis(self.execution.duration_ms);
        let wall = self.answer.report.wall;
        let deadline = Duration::from_secs(self.case.timeout_s) + Duration::from_secs(1);
        let bound = require.end_within_s.map_or(deadline, |seconds| Duration::from_secs_f64(seconds).min(deadline));
        findings.expect(run <= bound, || format!("end_within_s: the run took {run:?}, allowed are {bound:?}"));
        findings.expect(wall <= bound + START_UP, || {
            format!("end_within_s: the call took {wall:?}, allowed are {bound:?} and {START_UP:?} to start")
        });
        let least = Duration::from_secs_f64(require.min_wall_s.unwrap_or(0.0));
        findings.expect(run >= least && wall >= least, || {
            format!("min_wall_s: the run took {run:?} and the call {wall:?}, expected are at least {least:?}")
        });
    }

    fn texts(&self, findings: &mut Findings) {
        let (require, execution) = (&self.case.require, self.execution);
        let present = |text: &str, words: &[String]| -> Vec<String> {
            words.iter().map(|word| self.placeholders.text(word)).filter(|word| text.contains(word)).collect()
        };
        for (name, text, words) in [
            ("stdout_has", &execution.stdout, &require.stdout_has),
            ("stderr_has", &execution.stderr, &require.stderr_has),
        ] {
            let found = present(text, words);
            findings.expect(found.len() == words.len(), || format!("{name}: of {words:?} only {found:?}"));
        }
        let found = present(&execution.stdout, &require.stdout_lacks);
        findings
            .expect(found.is_empty(), || format!("stdout_lacks: {found:?} is in it{}", breaches(&execution.stdout)));
        let secrets: Vec<_> = SECRETS
            .iter()
            .filter(|name| {
                let secret = self.placeholders.get(name);
                execution.stdout.contains(&secret) || execution.stderr.contains(&secret)
            })
            .collect();
        findings.expect(secrets.is_empty(), || format!("the output holds {secrets:?}"));
        let expected = require.output_data.as_ref().map(|expected| self.placeholders.document(expected));
        let given = execution.output_data.clone().unwrap_or(Value::Null);
        findings.expect(expected.as_ref().is_none_or(|expected| *expected == given), || {
            format!("output_data: {given}, expected is {expected:?}")
        });
    }

    fn lengths(&self, findings: &mut Findings) {
        let (require, execution) = (&self.case.require, self.execution);
        let streams = [
            ("stdout", &execution.stdout, &require.stdout_bytes, require.truncated.stdout, execution.stdout_truncated),
            ("stderr", &execution.stderr, &require.stderr_bytes, require.truncated.stderr, execution.stderr_truncated),
        ];
        for (name, text, bounds, expected, truncated) in streams {
            let length = text.len() as u64;
            findings.expect(length <= CAP, || format!("utf8: {name} has {length} bytes, more than the cap"));
            findings.expect(bounds.as_ref().is_none_or(|bounds| self.is_within(bounds, length)), || {
                format!("{name}_bytes: {length}, allowed are {bounds:?}")
            });
            findings.expect(expected.is_none_or(|expected| expected == truncated), || {
                format!("truncated: {name} is marked {truncated}, expected is {expected:?}")
            });
        }
    }

    fn is_within(&self, bounds: &Length, length: u64) -> bool {
        let holds = |bound: &Option<Value>, compare: fn(&u64, &u64) -> bool| {
            bound
                .as_ref()
                .is_none_or(|bound| self.placeholders.number(bound).is_some_and(|bound| compare(&length, &bound)))
        };
        holds(&bounds.exact, u64::eq) && holds(&bounds.min, u64::ge) && holds(&bounds.max, u64::le)
    }

    fn resources(&self, findings: &mut Findings) {
        let (require, execution) = (&self.case.require, self.execution);
        let grown = self.disk_growth / 1_000_000;
        findings.expect(require.disk_delta_mb_max.is_none_or(|most| grown <= most), || {
            format!("disk_delta_mb_max: the host's file systems grew by {grown} MB")
        });
        let peak = execution.memory_peak_bytes;
        findings.expect(
            require
                .memory_peak_bytes
                .is_none_or(|bounds| peak.map_or(bounds.optional, |peak| (bounds.min..=bounds.max).contains(&peak))),
            || format!("memory_peak_bytes: {peak:?}, allowed are {:?}", require.memory_peak_bytes),
        );
        let told =
            execution.status == "resource_exhausted" || execution.limits_hit.iter().any(|limit| limit == "memory");
        findings.expect(!require.report_oom || told || !execution.stdout.contains("child status 9"), || {
            "report_oom: a child was killed and no limit is named".to_owned()
        });
        findings.expect(require.port_closed.is_none() || !self.answer.port_reached, || {
            "port_closed: the script's port was reached from the host".to_owned()
        });
    }
}

/// The manifest's word for a status of the product.
fn status_word(status: &str) -> &str {
    let words = BTreeMap::from([
        ("success", "ok"),
        ("failed", "script_error"),
        ("timeout", "timeout"),
        ("resource_exhausted", "resource"),
        ("unavailable", "unavailable"),
    ]);
    words.get(status).copied().unwrap_or(status)
}

fn breaches(stdout: &str) -> String {
    stdout.lines().filter(|line| line.contains("BREACH")).map(|line| format!("\n    {line}")).collect()
}
