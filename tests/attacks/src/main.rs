//! The hostile corpus through the front door: the real `belljar` program, as root and as an ordinary user.
//!
//! Each case and user is a test, such as `bubblewrap::root::disk_fill_temp`. Root can do both halves; where
//! an ordinary user runs the tests, the half of root is ignored by name, and with `CI=true` it fails.

mod call;
mod corpus;
mod expected;
mod host;
mod pass;
mod placeholders;
mod reaper;
mod scene;
mod trial;
mod verdict;
mod witness;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use libtest_mimic::{Arguments, Failed, Trial};

use crate::corpus::Manifest;
use crate::expected::ExpectedFailures;
use crate::pass::{EXECUTORS, Ground, Pass, User};

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        #[expect(clippy::print_stderr, reason = "where a test program tells why it cannot start")]
        {
            eprintln!("error: {error:#}");
        }
        ExitCode::FAILURE
    })
}

fn run() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((reaper::WORD, rest)) = words.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        reaper::main(rest)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut arguments = Arguments::from_args();
    // One at a time: deadlines are measured, and what appears while a case runs is held against that case.
    arguments.test_threads = Some(1);
    let shared = Arc::new(Shared { manifest: Manifest::load()?, expected: ExpectedFailures::load()? });
    let ground = if arguments.list { None } else { Some(Ground::prepare(&pass::find_binary()?)?) };
    let mut trials = corpus_trials(&shared);
    trials.push(harness_trial(&shared, ground.as_ref().map(Ground::unsealed_pass).transpose()?));
    for (executor, user) in EXECUTORS.into_iter().flat_map(|executor| User::ALL.map(|user| (executor, user))) {
        trials.extend(Half::new(ground.as_ref(), executor, user)?.trials(&shared));
    }
    Ok(libtest_mimic::run(&arguments, trials).exit_code())
}

/// What every test reads.
struct Shared {
    manifest: Manifest,
    expected: ExpectedFailures,
}

/// Tests of the corpus itself.
fn corpus_trials(shared: &Arc<Shared>) -> Vec<Trial> {
    let trial = |name: &str, check: fn(&Shared) -> Result<()>| {
        let shared = shared.clone();
        Trial::test(name, move || check(&shared).map_err(failed))
    };
    vec![
        trial("corpus::every_file_is_as_the_manifest_says", |shared| shared.manifest.check_files()),
        trial("corpus::every_word_of_the_manifest_is_known", |shared| shared.manifest.check_words()),
        trial("corpus::expected_failures_may_be_expected", |shared| shared.expected.check(&shared.manifest)),
    ]
}

/// The test of the harness itself.
fn harness_trial(shared: &Arc<Shared>, pass: Option<Pass>) -> Trial {
    let shared = shared.clone();
    Trial::test("harness::notices_what_is_not_sealed", move || {
        let pass = pass.ok_or("there is no ground to run on")?;
        trial::notices_what_is_not_sealed(&pass, &shared.manifest).map_err(failed)
    })
}

/// The half of a user: where it runs, or `None` where this harness cannot start it.
struct Half {
    executor: &'static str,
    user: User,
    pass: Option<Arc<Pass>>,
    is_ignored: bool,
}

impl Half {
    fn new(ground: Option<&Ground>, executor: &'static str, user: User) -> Result<Self> {
        let possible = user == User::Ordinary || pass::is_root();
        let pass = ground.filter(|_| possible).map(|ground| ground.pass(executor, user)).transpose()?;
        let required = std::env::var("CI").is_ok_and(|value| value == "true");
        Ok(Self { executor, user, pass: pass.map(Arc::new), is_ignored: !possible && !required })
    }

    fn trials(&self, shared: &Arc<Shared>) -> Vec<Trial> {
        let mut trials = vec![self.trial("default_limit_of_arguments", trial::default_limit_of_arguments)];
        for (index, case) in shared.manifest.cases.iter().enumerate() {
            let (shared, expected) = (shared.clone(), shared.expected.reason(&case.name, self.user).is_some());
            let trial = self.trial(&case.name, move |pass| verdict_of(&shared, pass, index));
            trials.push(if expected { trial.with_kind("expected failure") } else { trial });
        }
        trials
    }

    fn trial(&self, name: &str, check: impl FnOnce(&Pass) -> Result<()> + Send + 'static) -> Trial {
        let pass = self.pass.clone();
        let run = move || match pass {
            Some(pass) => check(&pass).map_err(failed),
            None => Err(Failed::from("only root can start this half: run the tests as root")),
        };
        Trial::test(format!("{}::{}::{name}", self.executor, self.user.name()), run).with_ignored_flag(self.is_ignored)
    }
}

/// A case passes when its requirements hold; one that is known to fail, when they do not.
fn verdict_of(shared: &Shared, pass: &Pass, index: usize) -> Result<()> {
    let case = &shared.manifest.cases[index];
    let outcome = trial::run(pass, &shared.manifest, case);
    match (shared.expected.reason(&case.name, pass.user), outcome) {
        (None, outcome) => outcome,
        (Some(_), Err(_)) => Ok(()),
        (Some(reason), Ok(())) => {
            anyhow::bail!("{} passes, and expected_failures.toml says it cannot: {reason}. Take it off.", case.name)
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
fn failed(error: anyhow::Error) -> Failed {
    Failed::from(format!("{error:#}"))
}
