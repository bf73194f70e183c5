//! The executor under test, described by whoever wrote it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use belljar_executor::{Executor, Interpreter, LanguageKey};

use crate::{Body, Clause, Deviation, Level};

type Sight = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// An executor and how to talk to it. Cheap to clone.
#[derive(Clone)]
pub struct Subject {
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) interpreter: String,
    pub(crate) language: String,
    bodies: BTreeMap<Body, String>,
    speaks_sh: bool,
    skip_reason: Option<String>,
    declined: BTreeMap<String, String>,
    sight: Sight,
}

impl Subject {
    /// An executor that runs POSIX `sh` under this value of the interpreter allow-list.
    #[must_use]
    pub fn new(executor: Arc<dyn Executor>, interpreter: &str) -> Self {
        Self {
            executor,
            interpreter: interpreter.to_owned(),
            language: "sh".to_owned(),
            bodies: BTreeMap::new(),
            speaks_sh: true,
            skip_reason: None,
            declined: BTreeMap::new(),
            sight: Arc::new(stands_in_a_command_line),
        }
    }

    /// An executor for another language, with its key, which is the extension too: it brings every
    /// [`Body`], and a clause whose body is missing fails.
    #[must_use]
    pub fn in_language(executor: Arc<dyn Executor>, interpreter: &str, language: &str) -> Self {
        Self { language: language.to_owned(), speaks_sh: false, ..Self::new(executor, interpreter) }
    }

    /// Another text for one script.
    #[must_use]
    pub fn body(mut self, body: Body, text: &str) -> Self {
        self.bodies.insert(body, text.to_owned());
        self
    }

    /// Skips everything, because something that the executor needs is missing here.
    #[must_use]
    pub fn skip(mut self, reason: &str) -> Self {
        self.skip_reason = Some(reason.to_owned());
        self
    }

    /// Declines one strict clause. Core clauses cannot be declined.
    #[must_use]
    pub fn decline(mut self, clause: &str, reason: &str) -> Self {
        self.declined.insert(clause.to_owned(), reason.to_owned());
        self
    }

    /// Says how to find out whether a process with this word in its command line exists. Without it,
    /// this host's `/proc` is read; a clause that sees nothing there while its script runs is skipped.
    #[must_use]
    pub fn sight(mut self, is_running: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.sight = Arc::new(is_running);
        self
    }

    /// What is wrong with the description itself: a declined clause that does not exist, is a core
    /// clause or has no reason; a name that does not parse.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        for (name, reason) in &self.declined {
            match Clause::find(name) {
                None => mistakes.push(format!("declines `{name}`, which is no clause")),
                Some(clause) if clause.level() == Level::Core => {
                    mistakes.push(format!("declines `{name}`, which is a core clause"));
                }
                Some(_) if reason.trim().is_empty() => mistakes.push(format!("declines `{name}` without a reason")),
                Some(_) => {}
            }
        }
        mistakes.extend(Interpreter::parse(&self.interpreter).err().map(|error| error.to_string()));
        mistakes.extend(LanguageKey::parse(&self.language).err().map(|error| error.to_string()));
        mistakes
    }

    /// Why this clause is not run, if it is not.
    pub(crate) fn reason_against(&self, clause: &Clause) -> Option<String> {
        if let Some(reason) = &self.skip_reason {
            return Some(reason.clone());
        }
        let reason = self.declined.get(clause.name()).filter(|_| clause.level() == Level::Strict)?;
        Some(format!("declined: {reason}"))
    }

    pub(crate) fn text_of(&self, body: Body) -> Result<String, Deviation> {
        let own = self.bodies.get(&body).map(String::as_str);
        own.or_else(|| self.speaks_sh.then(|| body.sh()))
            .map(str::to_owned)
            .ok_or_else(|| Deviation::fail(format!("a script body `{body:?}`"), "none in the subject's description"))
    }

    pub(crate) fn sees(&self, word: &str) -> bool {
        (self.sight)(word)
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Subject")
            .field("executor", &self.executor)
            .field("interpreter", &self.interpreter)
            .field("language", &self.language)
            .field("skip_reason", &self.skip_reason)
            .field("declined", &self.declined)
            .finish_non_exhaustive()
    }
}

/// Whether a process of this host has the word in its command line. One that is dead has none.
fn stands_in_a_command_line(word: &str) -> bool {
    let own = std::process::id();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok_and(|pid| pid != own))
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(word))
}
