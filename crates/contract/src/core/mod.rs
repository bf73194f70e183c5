//! What every executor does: the numbered clauses of the contract, see [`belljar_executor`].

mod input;
mod process_tree;

use std::collections::BTreeSet;
use std::time::Duration;

use belljar_executor::{Cancel, Ending, ErrorKind, Origin, Outcome, SkillName};
use tokio::time::Instant;

use crate::trial::{EXITED_0, HostFile, Trial, expect_ending, expect_text, shown, told};
use crate::verdict::demand;
use crate::{Body, Checked, Deviation, Subject};

pub use input::{input_closed_early_is_normal, input_never_read_does_not_stall};
pub use process_tree::{
    cancel_before_start_runs_nothing, cancelled_run_leaves_nothing, child_holding_output_does_not_stall,
    daemon_left_behind_is_gone, dropped_run_leaves_nothing, ignored_term_still_ends,
};

/// What a script that sleeps 30 seconds must be well under.
const WELL_BEFORE: Duration = Duration::from_secs(15);

/// The arguments reach standard input byte for byte.
///
/// # Errors
/// Where the executor deviates, as in every clause.
pub async fn arguments_reach_stdin(subject: &Subject) -> Checked {
    for input in ["{\"\u{e9}\": \"\\u0000 \u{1F600}\", \"n\":1.50}", "{}", "\"with a line end\"\r\n"] {
        let output = Trial::of(subject, Body::Echo)?.input(input).output().await?;
        expect_text("standard output", &output, input)?;
    }
    Ok(())
}

/// Without arguments, standard input is empty and closed: a script that reads it goes on.
///
/// # Errors
/// Where the executor deviates.
pub async fn absent_arguments_close_stdin(subject: &Subject) -> Checked {
    let output = Trial::of(subject, Body::ReadToEnd)?.timeout(5).output().await?;
    expect_text("standard output", &output, "end\n")
}

/// An empty script exits with 0 and prints nothing.
///
/// # Errors
/// Where the executor deviates.
pub async fn empty_script_exits_0(subject: &Subject) -> Checked {
    let outcome = Trial::with_content(subject, "")?.run().await?;
    expect_ending(&outcome, EXITED_0)?;
    expect_text("standard output", &outcome.stdout().text, "")?;
    expect_text("standard error", &outcome.stderr().text, "")?;
    let truncated = outcome.stdout().truncated || outcome.stderr().truncated;
    demand(!truncated, "nothing to be truncated", || "a truncated stream".to_owned())
}

/// The exit code is the script's, and standard error stays apart from standard output.
///
/// # Errors
/// Where the executor deviates.
pub async fn exit_code_and_stderr_are_told(subject: &Subject) -> Checked {
    let outcome = Trial::of(subject, Body::Problem)?.run().await?;
    expect_ending(&outcome, Ending::Exited { code: 7, signal: None })?;
    expect_text("standard error", &outcome.stderr().text, "problem\n")?;
    expect_text("standard output", &outcome.stdout().text, "")
}

/// Output over the cap is cut, drained and marked, never annotated, and the exit code is still told.
///
/// # Errors
/// Where the executor deviates.
pub async fn output_is_capped_without_a_notice(subject: &Subject) -> Checked {
    let outcome = Trial::of(subject, Body::Flood)?.cap(1000).run().await?;
    expect_ending(&outcome, Ending::Exited { code: 3, signal: None })?;
    for (name, stream) in [("standard output", outcome.stdout()), ("standard error", outcome.stderr())] {
        let text = &stream.text;
        demand(stream.truncated, &format!("{name} to be marked as truncated"), || "no mark".to_owned())?;
        demand(text.len() <= 1000, &format!("at most 1000 bytes of {name}"), || text.len().to_string())?;
        demand(text.len() >= 900, &format!("{name} up to the cap"), || format!("{} bytes", text.len()))?;
        let own = text.chars().all(|character| matches!(character, 'x' | '\n' | '\r'));
        demand(own, &format!("only what the script wrote in {name}"), || {
            format!("an end of {:?}", &text[text.floor_char_boundary(text.len() - 100)..])
        })?;
    }
    Ok(())
}

/// Past the time-out the run ends without an exit code, well before the script would, and what was
/// printed before is kept.
///
/// # Errors
/// Where the executor deviates.
pub async fn time_out_is_a_result(subject: &Subject) -> Checked {
    let begun = Instant::now();
    let outcome = Trial::of(subject, Body::Sleep)?.timeout(2).run().await?;
    let taken = begun.elapsed();
    expect_ending(&outcome, Ending::TimedOut)?;
    demand(taken < WELL_BEFORE, "an end well before the script's", || format!("{taken:?}"))?;
    expect_text("standard output so far", &outcome.stdout().text, "begun\n")?;
    expect_text("standard error so far", &outcome.stderr().text, "problem\n")
}

/// When the caller cancels, the run ends in the error `Cancelled`, not in a result.
///
/// # Errors
/// Where the executor deviates.
pub async fn cancellation_is_an_error(subject: &Subject) -> Checked {
    let cancel = Cancel::new();
    let run = Trial::of(subject, Body::Sleep)?.execute(cancel.clone());
    let fire = async {
        tokio::time::sleep(Duration::from_millis(800)).await;
        cancel.fire();
    };
    let begun = Instant::now();
    let (answer, ()) = tokio::join!(run, fire);
    let taken = begun.elapsed();
    expect_cancelled(&answer?)?;
    demand(taken < WELL_BEFORE, "an end soon after the cancellation", || format!("{taken:?}"))
}

fn expect_cancelled(answer: &Result<Outcome, belljar_executor::ExecutorError>) -> Checked {
    match answer {
        Err(error) if error.kind() == ErrorKind::CANCELLED => Ok(()),
        Err(error) => Err(Deviation::fail("the error Cancelled", told(error))),
        Ok(outcome) => Err(Deviation::fail("the error Cancelled", format!("the result {:?}", outcome.ending()))),
    }
}

/// The script gets the skill's name and a writable folder, and no variable of the host.
///
/// # Errors
/// Where the executor deviates; skipped when this process has no variable to look for.
pub async fn environment_is_the_two_variables(subject: &Subject) -> Checked {
    // Any system sets these itself, and may well set them to what they are here.
    const USUAL: [&str; 7] = ["PATH", "HOME", "LANG", "PWD", "OLDPWD", "SHLVL", "_"];

    let output = Trial::of(subject, Body::Environment)?.output().await?;
    let lines: BTreeSet<&str> = output.lines().map(|line| line.trim_end_matches('\r')).collect();
    demand(lines.contains("TRACON_SKILL_NAME=contract-skill"), "TRACON_SKILL_NAME to be the skill's name", || {
        format!("{:?}", lines.iter().find(|line| line.starts_with("TRACON_SKILL_NAME")))
    })?;
    let temp = lines.iter().any(|line| line.strip_prefix("TRACON_SKILL_TEMP=").is_some_and(|path| !path.is_empty()));
    demand(temp, "TRACON_SKILL_TEMP to be a folder", || "none".to_owned())?;
    let of_host: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| !USUAL.contains(&name.as_str()) && !value.is_empty() && !value.contains('\n'))
        .collect();
    if of_host.is_empty() {
        return Err(Deviation::skip("this process has no variable of its own that could show up in a script"));
    }
    // The name only: what leaked may be a secret.
    match of_host.iter().find(|(name, value)| lines.contains(format!("{name}={value}").as_str())) {
        Some((name, _)) => Err(Deviation::fail("no variable of the host", name)),
        None => Ok(()),
    }
}

/// Two calls at the same time have a temporary folder each: neither sees what the other writes.
///
/// # Errors
/// Where the executor deviates.
pub async fn temp_directories_are_separate(subject: &Subject) -> Checked {
    let mut one = Trial::of(subject, Body::Note)?.input("\"one\"");
    let mut other = Trial::of(subject, Body::Note)?.input("\"other\"");
    for (trial, name) in [(&mut one, "contract-one"), (&mut other, "contract-other")] {
        trial.parts.skill_name =
            SkillName::parse(name).map_err(|error| Deviation::fail("a skill name", error.to_string()))?;
    }
    let (one, other) = tokio::join!(one.output(), other.output());
    expect_text("the first folder's content", &one?, "\"one\"")?;
    expect_text("the second folder's content", &other?, "\"other\"")
}

/// A stored request runs its content, also when it names a path where something else is.
///
/// # Errors
/// Where the executor deviates.
pub async fn stored_request_runs_its_content(subject: &Subject) -> Checked {
    let decoy = HostFile::new(&subject.text_of(Body::Decoy)?)?;
    for path in [None, Some(decoy.path().to_owned()), Some("/nowhere/at/all".into())] {
        let mut trial = Trial::of(subject, Body::Content)?;
        trial.parts.source_path = path;
        expect_text("standard output", &trial.output().await?, "approved\n")?;
    }
    Ok(())
}

/// One instance serves many runs at once, and each gets its own answer.
///
/// # Errors
/// Where the executor deviates.
pub async fn many_run_at_once(subject: &Subject) -> Checked {
    // Six scripts of two seconds each: twelve seconds when they run one after another.
    const ONE_AFTER_ANOTHER: Duration = Duration::from_secs(12);

    let begun = Instant::now();
    let runs: Vec<_> = (0..6)
        .map(|number| {
            let subject = subject.clone();
            tokio::spawn(async move {
                let input = format!("{{\"number\": {number}}}");
                let output = Trial::of(&subject, Body::SlowEcho)?.timeout(30).input(&input).output().await?;
                expect_text("each run's own arguments", &output, &input)
            })
        })
        .collect();
    for run in runs {
        run.await.map_err(|lost| Deviation::fail("an executor that does not panic", shown(&lost.to_string())))??;
    }
    let taken = begun.elapsed();
    demand(taken < ONE_AFTER_ANOTHER, "six runs at the same time", || format!("{taken:?}, as one after another"))
}

/// The temporary folder is empty at the start and gone afterwards.
///
/// # Errors
/// Where the executor deviates.
pub async fn temp_directory_is_gone_afterwards(subject: &Subject) -> Checked {
    let folder = Trial::of(subject, Body::LeaveTemp)?.output().await?;
    let output = Trial::of(subject, Body::LookTemp)?.input(&format!("\"{folder}\"")).output().await?;
    expect_text("what a second run finds of the first", &output, "end\n")
}

/// A script under a skill root runs, or is refused with the error for it.
///
/// # Errors
/// Where the executor deviates.
pub async fn file_origin_runs_or_is_refused(subject: &Subject) -> Checked {
    let file = HostFile::new(&subject.text_of(Body::Content)?)?;
    let name = format!("main.{}", subject.language);
    let mut trial = Trial::of(subject, Body::Content)?.named(Origin::File, &name)?;
    trial.parts.source_path = Some(file.path().to_owned());
    match trial.execute(Cancel::new()).await? {
        Ok(outcome) => {
            expect_ending(&outcome, EXITED_0)?;
            expect_text("standard output", &outcome.stdout().text, "approved\n")
        }
        Err(error) if error.kind() == ErrorKind::UNSUPPORTED_ORIGIN => Ok(()),
        Err(error) => Err(Deviation::fail("a result or the error UnsupportedOrigin", told(&error))),
    }
}

/// Two scripts of one skill at the same time do not meet.
///
/// # Errors
/// Where the executor deviates.
pub async fn one_skill_runs_concurrently(subject: &Subject) -> Checked {
    let named = |name: &str| {
        let path = format!("scripts/{name}.{}", subject.language);
        Ok::<_, Deviation>(Trial::of(subject, Body::Note)?.named(Origin::Stored, &path)?.input(&format!("\"{name}\"")))
    };
    let (one, other) = tokio::join!(named("one")?.output(), named("other")?.output());
    expect_text("the first run's folder", &one?, "\"one\"")?;
    expect_text("the second run's folder", &other?, "\"other\"")
}
