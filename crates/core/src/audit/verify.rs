//! Checking a chain, entry by entry, in bounded memory.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Action, AuditEntry, Head};

/// What is wrong with a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// An entry's content does not match its hash, or its link not the entry before.
    Broken,
    /// A sequence number is missing.
    Gap,
    /// A sequence number stands twice.
    Fork,
    /// A run has no outcome.
    RunWithoutOutcome,
    /// The chain is shorter than a head that was seen, or has another entry there.
    Cut,
}

/// The first fault of its kind, with the entry where it shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The first sequence number that shows it.
    pub sequence: u64,
    /// The id of the entry there, when there is one.
    pub audit_id: Option<String>,
    /// In words.
    pub detail: String,
}

/// What a verification came to.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// Entries read.
    pub entries: u64,
    /// `script.run` entries.
    pub runs: u64,
    /// `script.outcome` entries.
    pub outcomes: u64,
    /// Runs that are still open and whose process lives; not a fault.
    pub running: u64,
    /// The head, `SEQ:HASH`.
    pub head: String,
    /// The first fault; none for a valid chain.
    pub fault: Option<Fault>,
    /// Whether the head is signed. It never is: signing is not there yet.
    pub signed: bool,
}

/// Reads a chain in order and remembers the first fault.
#[derive(Debug)]
pub struct Verifier {
    expected: Vec<Head>,
    head: Head,
    entries: u64,
    runs: u64,
    outcomes: u64,
    open: BTreeMap<String, (u64, String)>,
    fault: Option<Fault>,
}

impl Verifier {
    /// A verifier that also wants these heads to be on the chain.
    #[must_use]
    pub fn new(expected: Vec<Head>) -> Self {
        Self { expected, head: Head::GENESIS, entries: 0, runs: 0, outcomes: 0, open: BTreeMap::new(), fault: None }
    }

    /// Takes the next entry.
    pub fn take(&mut self, entry: &AuditEntry) {
        self.entries += 1;
        let next = self.head.sequence + 1;
        if entry.sequence > next {
            self.blame(
                FaultKind::Gap,
                next,
                Some(entry),
                format!("entries {next} to {} are missing", entry.sequence - 1),
            );
        } else if entry.sequence < next {
            let sequence = entry.sequence;
            self.blame(FaultKind::Fork, sequence, Some(entry), format!("sequence number {sequence} stands twice"));
        } else if entry.previous_hash != self.head.hash {
            self.blame(FaultKind::Broken, next, Some(entry), "its link is not the hash of the entry before".into());
        }
        if entry.computed_hash() != entry.hash {
            self.blame(FaultKind::Broken, entry.sequence, Some(entry), "its content does not match its hash".into());
        }
        for expected in &self.expected {
            if expected.sequence == entry.sequence && expected.hash != entry.hash {
                let fault = format!("entry {} is not the one that was seen there", entry.sequence);
                self.fault.get_or_insert_with(|| fault_of(FaultKind::Cut, entry.sequence, Some(entry), fault));
            }
        }
        self.match_runs(entry);
        self.head = entry.head();
    }

    fn match_runs(&mut self, entry: &AuditEntry) {
        let execution = || entry.facts()["execution_id"].as_str().unwrap_or_default().to_owned();
        match entry.action {
            Action::ScriptRun => {
                self.runs += 1;
                self.open.insert(execution(), (entry.sequence, entry.id.to_string()));
            }
            Action::ScriptOutcome => {
                self.outcomes += 1;
                let execution = execution();
                if self.open.remove(&execution).is_none() {
                    let detail = format!("an outcome of {execution}, which has no open run");
                    self.blame(FaultKind::Broken, entry.sequence, Some(entry), detail);
                }
            }
            _ => {}
        }
    }

    fn blame(&mut self, kind: FaultKind, sequence: u64, entry: Option<&AuditEntry>, detail: String) {
        self.fault.get_or_insert_with(|| fault_of(kind, sequence, entry, detail));
    }

    /// The executions that have a run and no outcome so far.
    #[must_use]
    pub fn open_runs(&self) -> Vec<String> {
        self.open.keys().cloned().collect()
    }

    /// Ends the chain. `is_running` tells whether a run without outcome is one that still runs.
    #[must_use]
    pub fn finish(mut self, is_running: impl Fn(&str) -> bool) -> Verification {
        if let Some(beyond) =
            self.expected.iter().filter(|seen| seen.sequence > self.head.sequence).max_by_key(|seen| seen.sequence)
        {
            let (sequence, last) = (beyond.sequence, self.head.sequence);
            let detail = format!("the trail ends at {last}, but entry {sequence} was seen");
            self.fault.get_or_insert_with(|| fault_of(FaultKind::Cut, last + 1, None, detail));
        }
        let running = self.open.keys().filter(|execution| is_running(execution)).count() as u64;
        let without = self.open.iter().filter(|(execution, _)| !is_running(execution)).min_by_key(|(_, (at, _))| *at);
        if let Some((execution, (sequence, id))) = without {
            let detail = format!("run {execution} has no outcome");
            let fault =
                Fault { kind: FaultKind::RunWithoutOutcome, sequence: *sequence, audit_id: Some(id.clone()), detail };
            self.fault.get_or_insert(fault);
        }
        Verification {
            entries: self.entries,
            runs: self.runs,
            outcomes: self.outcomes,
            running,
            head: self.head.to_string(),
            fault: self.fault,
            signed: false,
        }
    }
}

fn fault_of(kind: FaultKind, sequence: u64, entry: Option<&AuditEntry>, detail: String) -> Fault {
    Fault { kind, sequence, audit_id: entry.map(|entry| entry.id.to_string()), detail }
}
