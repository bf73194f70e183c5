//! The list of clauses: one place that the runner, the macro and the coverage check read.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::{Checked, Deviation, Subject, Verdict, core, strict};

/// How much is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What every executor does.
    Core,
    /// Core, and what a careful executor does.
    Strict,
}

impl Level {
    /// The word in tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Strict => "strict",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

type Check = fn(Subject) -> Pin<Box<dyn Future<Output = Checked> + Send>>;

/// One clause of the contract.
#[derive(Clone, Copy)]
pub struct Clause {
    name: &'static str,
    level: Level,
    check: Check,
}

impl Clause {
    /// Every clause of this version, core first.
    #[must_use]
    pub const fn all() -> &'static [Self] {
        ALL
    }

    /// The clause of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|clause| clause.name == name)
    }

    /// Its name: that of its function.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The level that it belongs to.
    #[must_use]
    pub const fn level(&self) -> Level {
        self.level
    }

    /// Looks whether the executor satisfies it, unless the subject skips or declines it. A panic of
    /// the executor is a failure. Needs a tokio runtime with time.
    pub async fn check(&self, subject: &Subject) -> Verdict {
        if let Some(reason) = subject.reason_against(self) {
            return Verdict::Skipped { reason };
        }
        let checked = tokio::spawn((self.check)(subject.clone())).await;
        checked.unwrap_or_else(|lost| Err(Deviation::fail("an executor that does not panic", lost.to_string()))).into()
    }
}

impl fmt::Debug for Clause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Clause({} {})", self.level, self.name)
    }
}

macro_rules! table {
    ({} $($level:ident $module:ident: [$($name:ident)*])*) => {
        const ALL: &[Clause] = &[$($(Clause {
            name: stringify!($name),
            level: Level::$level,
            check: |subject| Box::pin(async move { $module::$name(&subject).await }),
        },)*)*];
    };
}

crate::with_clauses! { table {} }
