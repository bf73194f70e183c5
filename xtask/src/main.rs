//! The project's tasks, the same for people and for CI.

mod bench;
mod demo;
mod directions;
mod process;
mod setup;
mod soak;
mod test;

use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask TASK

  demo         build, then add, approve and run an example skill in the sandbox, and read the record
  test         all checks and tests, as root and as an ordinary user; what CI runs
  soak         random kills and a thousand runs; prints a summary
  bench        measure this machine in the release profile; prints a table
  directions   check that the crates depend on each other in the allowed directions only
  setup        install the system packages that the above need
";

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    let done = match task.as_str() {
        "demo" => demo::run(),
        "test" => test::run_task(),
        "bench" => bench::run_task(),
        "soak" => soak::run_task(),
        "directions" => directions::run(),
        "setup" => setup::run_task(),
        _ => {
            process::say(HELP.trim_end());
            return if matches!(task.as_str(), "" | "help" | "--help" | "-h") {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(2)
            };
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            process::say(&format!("xtask {task}: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
