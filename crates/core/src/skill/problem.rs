//! What reading a skill found: problems that refuse it, and notes on what was repaired or left out.

use std::fmt;

use serde::Serialize;

use crate::visible::push_visible;

/// Why a skill is refused. All problems of a skill are reported at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file it is about; `None` when it is about the skill as a whole.
    pub path: Option<String>,
    /// The cause and the rule, in one sentence.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(formatter, "{path}: {}", self.message),
            None => formatter.write_str(&self.message),
        }
    }
}

/// What kind of thing a note tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// Something in the folder did not become part of the skill.
    LeftOut,
    /// The index entry differs from what the file says; the file is kept as it is.
    Repaired,
    /// Kept as it is, but it may not do what its author thinks.
    Warning,
}

/// Something that the person who saves a skill should know; it refuses nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The file or folder it is about.
    pub path: String,
    /// One sentence.
    pub message: String,
    /// What kind.
    pub kind: NoteKind,
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.message)
    }
}

/// At most this many problems, and this many notes, are reported; the rest is counted.
const MOST: usize = 100;

/// Collects problems and notes, bounded, because both quote hostile input.
#[derive(Debug, Default)]
pub(super) struct Findings {
    problems: Vec<Problem>,
    notes: Vec<Note>,
    more_problems: usize,
    more_notes: usize,
}

impl Findings {
    /// A problem of one file.
    pub(super) fn problem(&mut self, path: &str, message: impl Into<String>) {
        self.push(Problem { path: Some(shown(path)), message: message.into() });
    }

    /// A problem of the skill as a whole.
    pub(super) fn problem_of_all(&mut self, message: impl Into<String>) {
        self.push(Problem { path: None, message: message.into() });
    }

    /// A note.
    pub(super) fn note(&mut self, path: &str, kind: NoteKind, message: impl Into<String>) {
        if self.notes.len() < MOST {
            self.notes.push(Note { path: shown(path), message: message.into(), kind });
        } else {
            self.more_notes += 1;
        }
    }

    /// Whether there is a problem with this file.
    pub(super) fn concern(&self, path: &str) -> bool {
        self.problems.iter().any(|problem| problem.path.as_deref() == Some(path))
    }

    /// The value with its notes when there is no problem, else all problems.
    pub(super) fn into_result<T>(mut self, value: Option<T>) -> Result<(T, Vec<Note>), Vec<Problem>> {
        if self.more_problems > 0 {
            let message = format!("{} more problems are not shown", self.more_problems);
            self.problems.push(Problem { path: None, message });
        }
        if self.more_notes > 0 {
            let message = format!("{} more notes are not shown", self.more_notes);
            self.notes.push(Note { path: String::new(), message, kind: NoteKind::Warning });
        }
        match value {
            Some(value) if self.problems.is_empty() => Ok((value, self.notes)),
            _ => Err(self.problems),
        }
    }

    fn push(&mut self, problem: Problem) {
        if self.problems.len() < MOST {
            self.problems.push(problem);
        } else {
            self.more_problems += 1;
        }
    }
}

/// A text from the skill as it may be shown: what does not show escaped, long ones cut.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 300;
    let mut shown = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == LONGEST {
            shown.push('…');
            break;
        }
        push_visible(&mut shown, character);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_bounded_and_the_rest_is_counted() {
        let mut findings = Findings::default();
        for index in 0..150 {
            findings.problem(&format!("f{index}"), "is wrong");
        }
        let problems = findings.into_result(Some(())).unwrap_err();
        assert_eq!(problems.len(), 101);
        assert_eq!(problems[100].to_string(), "50 more problems are not shown");
    }

    #[test]
    fn what_is_shown_cannot_steer_a_terminal() {
        assert_eq!(shown("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\n");
        assert_eq!(shown(&"x".repeat(400)).chars().count(), 301);
    }
}
