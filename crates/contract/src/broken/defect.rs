//! The ways in which an executor can be broken, and which clause finds each.

/// A defect, named as its author would defend it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Defect {
    /// Strips white space at the ends of the arguments.
    TrimsArguments,
    /// Without arguments, keeps standard input open.
    LeavesInputOpen,
    /// Refuses a script without content.
    RefusesEmptyScript,
    /// Adds standard error to standard output.
    MixesStreams,
    /// Tells every failure as exit code 1.
    HidesExitCode,
    /// Writes a notice into what it cuts.
    AddsNotice,
    /// Reads no further than the cap, so that the script waits for ever.
    StopsReadingAtCap,
    /// Ends a time-out in an error.
    TimeOutIsAnError,
    /// Throws away what was written before a time-out.
    TimeOutLosesOutput,
    /// Ends a cancellation in a result.
    CancellationIsAResult,
    /// Passes on the host's variables.
    InheritsEnvironment,
    /// Sets no `TRACON_SKILL_NAME`.
    ForgetsSkillName,
    /// Names the temporary folder after the script.
    FolderByScriptName,
    /// Names the temporary folder after the skill.
    FolderBySkillName,
    /// Runs what lies at the path of a stored request.
    RunsThePath,
    /// Runs one script after another.
    OneAtATime,
    /// Takes exactly the cap for truncation.
    MarksExactCap,
    /// Leaves out bytes that are no text.
    DropsInvalidBytes,
    /// Writes all input before it looks at the deadline.
    WritesInputBeforeDeadline,
    /// Takes input that nobody read for a fault.
    BrokenPipeIsAFault,
    /// Waits for whoever holds the output open.
    WaitsForEndOfOutput,
    /// Leaves what the script started.
    LeavesDaemons,
    /// Sends TERM and waits.
    OnlyAsksToEnd,
    /// Runs a request whose token has fired.
    RunsWhatWasCancelled,
    /// Answers a cancellation and kills later.
    AnswersBeforeAllIsGone,
    /// Goes on when it is dropped.
    SurvivesBeingDropped,
    /// Leaves the temporary folder.
    LeavesTemp,
    /// Refuses a file script with the wrong error.
    FileOriginIsAFault,
    /// Takes a script's name for a file name.
    TakesNameForFileName,
    /// Runs `sh` for an interpreter that it does not know.
    RunsUnknownInterpreters,
    /// Tells no usage.
    TellsNoUsage,
    /// Tells a signal as an exit code.
    HidesSignal,
    /// Panics.
    Panics,
}

/// Every defect with the one clause that it breaks.
pub const BROKEN: &[(Defect, &str)] = &[
    (Defect::TrimsArguments, "arguments_reach_stdin"),
    (Defect::LeavesInputOpen, "absent_arguments_close_stdin"),
    (Defect::RefusesEmptyScript, "empty_script_exits_0"),
    (Defect::MixesStreams, "exit_code_and_stderr_are_told"),
    (Defect::HidesExitCode, "exit_code_and_stderr_are_told"),
    (Defect::AddsNotice, "output_is_capped_without_a_notice"),
    (Defect::StopsReadingAtCap, "output_is_capped_without_a_notice"),
    (Defect::TimeOutLosesOutput, "time_out_is_a_result"),
    (Defect::CancellationIsAResult, "cancellation_is_an_error"),
    (Defect::InheritsEnvironment, "environment_is_the_two_variables"),
    (Defect::ForgetsSkillName, "environment_is_the_two_variables"),
    (Defect::FolderByScriptName, "temp_directories_are_separate"),
    (Defect::FolderBySkillName, "one_skill_runs_concurrently"),
    (Defect::RunsThePath, "stored_request_runs_its_content"),
    (Defect::OneAtATime, "many_run_at_once"),
    (Defect::MarksExactCap, "cap_is_exact"),
    (Defect::DropsInvalidBytes, "invalid_text_is_replaced"),
    (Defect::WritesInputBeforeDeadline, "input_never_read_does_not_stall"),
    (Defect::BrokenPipeIsAFault, "input_closed_early_is_normal"),
    (Defect::WaitsForEndOfOutput, "child_holding_output_does_not_stall"),
    (Defect::LeavesDaemons, "daemon_left_behind_is_gone"),
    (Defect::OnlyAsksToEnd, "ignored_term_still_ends"),
    (Defect::RunsWhatWasCancelled, "cancel_before_start_runs_nothing"),
    (Defect::AnswersBeforeAllIsGone, "cancelled_run_leaves_nothing"),
    (Defect::SurvivesBeingDropped, "dropped_run_leaves_nothing"),
    (Defect::LeavesTemp, "temp_directory_is_gone_afterwards"),
    (Defect::FileOriginIsAFault, "file_origin_runs_or_is_refused"),
    (Defect::TakesNameForFileName, "names_with_separators_run"),
    (Defect::RunsUnknownInterpreters, "unknown_interpreter_is_an_error"),
    (Defect::TellsNoUsage, "usage_is_told"),
    (Defect::HidesSignal, "signal_is_told"),
    (Defect::Panics, "signal_is_told"),
];

/// Defects so broad that they break more than one clause.
pub const BROADLY_BROKEN: &[(Defect, &[&str])] = &[(
    Defect::TimeOutIsAnError,
    &["time_out_is_a_result", "input_never_read_does_not_stall", "ignored_term_still_ends"],
)];
