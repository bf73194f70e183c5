//! All clauses in a row, and the table of what came of it.

use std::fmt;

use crate::{Clause, Level, Subject, Verdict};

/// One line of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The clause.
    pub clause: Clause,
    /// What came of it.
    pub verdict: Verdict,
}

/// What came of all clauses. Its text form is the table.
#[derive(Clone, Debug)]
pub struct Outcome {
    executor: String,
    level: Level,
    mistakes: Vec<String>,
    rows: Vec<Row>,
}

/// Runs the clauses of this level one after another. Needs a tokio runtime with time.
pub async fn run(subject: &Subject, level: Level) -> Outcome {
    let mut rows = Vec::new();
    for clause in Clause::all().iter().filter(|clause| clause.level() <= level) {
        rows.push(Row { clause: *clause, verdict: clause.check(subject).await });
    }
    Outcome { executor: subject.executor.name().to_owned(), level, mistakes: subject.mistakes(), rows }
}

impl Outcome {
    /// Whether nothing failed and the subject is described rightly. Skipped clauses do not count.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.mistakes.is_empty() && self.rows.iter().all(|row| !row.verdict.is_fail())
    }

    /// All rows, in the order of the clauses.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// What is wrong with the description of the subject.
    #[must_use]
    pub fn mistakes(&self) -> &[String] {
        &self.mistakes
    }

    /// The names of the clauses that failed.
    #[must_use]
    pub fn failed(&self) -> Vec<&'static str> {
        self.rows.iter().filter(|row| row.verdict.is_fail()).map(|row| row.clause.name()).collect()
    }

    /// The names of the clauses that were skipped.
    #[must_use]
    pub fn skipped(&self) -> Vec<&'static str> {
        let skipped = self.rows.iter().filter(|row| matches!(row.verdict, Verdict::Skipped { .. }));
        skipped.map(|row| row.clause.name()).collect()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}: contract {}, level {}", self.executor, env!("CARGO_PKG_VERSION"), self.level)?;
        let width = self.rows.iter().map(|row| row.clause.name().len()).max().unwrap_or(0);
        for Row { clause, verdict } in &self.rows {
            let line = format!("  {}  {:6}  {:width$}  {verdict}", verdict.as_str(), clause.level(), clause.name());
            writeln!(formatter, "{}", line.trim_end())?;
        }
        for mistake in &self.mistakes {
            writeln!(formatter, "  FAIL  the subject {mistake}")?;
        }
        let (failed, skipped) = (self.failed().len(), self.skipped().len());
        let passed = self.rows.len() - failed - skipped;
        write!(formatter, "  {passed} passed, {failed} failed, {skipped} skipped")
    }
}
