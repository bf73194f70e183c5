//! One test of each clause in a stranger's own test binary.

use std::io::Write as _;

use crate::{Clause, Subject, Verdict};

/// Hands the names of all clauses to a macro. This list decides what exists.
#[doc(hidden)]
#[macro_export]
macro_rules! with_clauses {
    ($callback:ident { $($argument:tt)* }) => {
        $callback! {
            { $($argument)* }
            Core core: [
                arguments_reach_stdin
                absent_arguments_close_stdin
                empty_script_exits_0
                exit_code_and_stderr_are_told
                output_is_capped_without_a_notice
                time_out_is_a_result
                cancellation_is_an_error
                environment_is_the_two_variables
                temp_directories_are_separate
                stored_request_runs_its_content
                many_run_at_once
                input_never_read_does_not_stall
                input_closed_early_is_normal
                child_holding_output_does_not_stall
                daemon_left_behind_is_gone
                ignored_term_still_ends
                cancel_before_start_runs_nothing
                cancelled_run_leaves_nothing
                dropped_run_leaves_nothing
                temp_directory_is_gone_afterwards
                file_origin_runs_or_is_refused
                one_skill_runs_concurrently
            ]
            Strict strict: [
                cap_is_exact
                invalid_text_is_replaced
                names_with_separators_run
                unknown_interpreter_is_an_error
                usage_is_told
                signal_is_told
            ]
        }
    };
}

/// Makes one `#[test]` of each clause, which prints a skip with its reason and fails with what was
/// expected and found.
///
/// `contract_tests! { core, subject() }` for the core clauses, `contract_tests! { strict, subject() }`
/// for all. The expression is evaluated in every test.
#[macro_export]
macro_rules! contract_tests {
    (core, $subject:expr $(,)?) => {
        $crate::__contract_tests! { {core $subject} }
    };
    (strict, $subject:expr $(,)?) => {
        $crate::__contract_tests! { {strict $subject} }
    };
}

/// Expands the list of [`with_clauses`]; `core` takes its first part only.
#[doc(hidden)]
#[macro_export]
macro_rules! __contract_tests {
    ({$level:ident $subject:expr}) => {
        use $crate::__contract_tests as contract_tests_of_list;
        $crate::with_clauses! { contract_tests_of_list { $level $subject } }
    };
    ({core $subject:expr} Core core: [$($core:ident)*] Strict strict: [$($strict:ident)*]) => {
        $crate::__contract_tests! { @each $subject; $($core)* }
    };
    ({strict $subject:expr} Core core: [$($core:ident)*] Strict strict: [$($strict:ident)*]) => {
        $crate::__contract_tests! { @each $subject; $($core)* $($strict)* }
    };
    (@each $subject:expr; $($name:ident)*) => {
        #[test]
        fn subject_is_described_rightly() {
            $crate::judge_description(&$subject);
        }
        $(
            #[test]
            fn $name() {
                $crate::judge(&$subject, stringify!($name));
            }
        )*
    };
}

/// Runs one clause in a runtime of its own, for [`contract_tests!`].
#[doc(hidden)]
#[expect(clippy::panic, reason = "this is the body of a test")]
pub fn judge(subject: &Subject, name: &str) {
    let Some(clause) = Clause::find(name) else { panic!("`{name}` is no clause of this version") };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.unwrap_or_else(|error| panic!("no runtime for the test: {error}"));
    let verdict = runtime.block_on(clause.check(subject));
    match &verdict {
        Verdict::Pass => {}
        // Written past the capture of the test harness, so that a skip is always seen.
        Verdict::Skipped { reason } => drop(writeln!(std::io::stderr(), "skipped {name}: {reason}")),
        Verdict::Fail { .. } => panic!("{}: {name}: {verdict}", subject.executor.name()),
    }
}

/// Looks at the description, for [`contract_tests!`].
#[doc(hidden)]
#[expect(clippy::panic, reason = "this is the body of a test")]
pub fn judge_description(subject: &Subject) {
    let mistakes = subject.mistakes();
    if !mistakes.is_empty() {
        panic!("the subject {}", mistakes.join("; it "));
    }
}
