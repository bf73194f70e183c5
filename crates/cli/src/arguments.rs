//! The command line as it is written.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::ExecutorName;

/// Runs the scripts of AI agents' skills in sealed, single-use sandboxes: only what was approved, always
/// on the record.
#[derive(Debug, Parser)]
#[command(name = "belljar", version, propagate_version = true, max_term_width = 100, after_long_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes of `belljar run`:
  0-255  the script's own; 128 + n when signal n ended it
  2      a wrong argument
  124    the deadline ended the script
  125    refused or failed by Belljar
  130    cancelled
  137    a resource limit ended the script
With --json the answer on standard output is exact.";

/// What every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Print JSON: one document on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Folder of the store [default: belljar in the user's state folder]
    #[arg(long, global = true, env = "BELLJAR_STATE", value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Configuration file [default: belljar/config.toml in the user's configuration folder, then /etc]
    #[arg(long, global = true, env = "BELLJAR_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// What to log on standard error, such as `warn`, `info` or `belljar_core=debug` [default: warn]
    #[arg(long, global = true, env = "BELLJAR_LOG", value_name = "FILTER")]
    pub(crate) log: Option<String>,
    /// How to write the log
    #[arg(
        long,
        global = true,
        env = "BELLJAR_LOG_FORMAT",
        value_enum,
        default_value = "text",
        hide_possible_values = true
    )]
    pub(crate) log_format: LogFormat,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// A JSON object a line.
    Json,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a script of a skill in a sandbox
    Run(Run),
    /// Check, save and look at skills
    #[command(subcommand)]
    Skill(Skill),
    /// Approve scripts, and take approvals back
    #[command(subcommand)]
    Grant(Grant),
    /// Look at executions
    #[command(subcommand)]
    Exec(Exec),
    /// Read and check the audit trail
    #[command(subcommand)]
    Audit(Audit),
    /// Stop new runs from starting
    Pause(Pause),
    /// Let runs start again
    Resume(Pause),
    /// Serve an agent over the Model Context Protocol, on standard input and output
    #[command(after_help = MCP_HELP)]
    Mcp(Mcp),
    /// Tell what this host's sandbox enforces, and how to mend it
    Doctor(Doctor),
    /// Check and show the configuration
    #[command(subcommand)]
    Config(Config),
    /// Print the completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a folder
    Man {
        /// The folder; it must exist
        folder: PathBuf,
    },
}

/// What stands below the help of `belljar mcp`.
const MCP_HELP: &str = "\
An agent host starts this program and speaks to it. Its tools: recall_context, recall_cloud_skill, execute_cloud_skill and \
save_cloud_skill. An agent cannot approve scripts: what it was refused is shown by `belljar grant list --pending`. At the end \
of input, and at SIGINT and SIGTERM, runs that are under way are cancelled and recorded.";

/// `belljar mcp`
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Print the entry for a host's list of MCP servers, and end
    #[arg(long)]
    pub(crate) print_config: bool,
    /// Where scripts run; without it as the configuration says
    #[arg(long, value_name = "NAME")]
    pub(crate) executor: Option<ExecutorName>,
}

/// `belljar run`
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The name of a skill, or a folder with a SKILL.md, which is saved as a revision
    pub(crate) skill: String,
    /// The script's path inside the skill, or its component id
    pub(crate) script: String,
    /// JSON object for the script's standard input; @FILE reads a file, - reads standard input
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// An argument for the script; can be given again
    #[arg(long = "arg", value_name = "ARG", allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
    /// Stop the script after so many seconds; clamped to the configured range
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = whole_seconds)]
    pub(crate) timeout: Option<i64>,
    /// Approve exactly what would run now, then run it
    #[arg(long)]
    pub(crate) grant: bool,
    /// Fix the revision of a saved skill
    #[arg(long, value_name = "ID")]
    pub(crate) revision: Option<String>,
    /// Where to run, instead of the configured executor
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) executor: Option<ExecutorName>,
    /// An id of the caller's own for the record
    #[arg(long, value_name = "ID")]
    pub(crate) run_id: Option<String>,
    /// Show what the script would see and which gate is closed, without running it
    #[arg(long)]
    pub(crate) explain: bool,
    /// More arguments for the script
    #[arg(last = true, value_name = "ARG")]
    pub(crate) rest: Vec<String>,
}

/// A whole number of seconds; `30.0` is one.
fn whole_seconds(text: &str) -> Result<i64, String> {
    let digits = match text.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() && fraction.bytes().all(|digit| digit == b'0') => whole,
        _ => text,
    };
    digits.parse().map_err(|_| "expected a whole number of seconds".to_owned())
}

/// `belljar skill`
#[derive(Debug, Subcommand)]
pub(crate) enum Skill {
    /// Check a skill's folder without saving it
    Check {
        /// The folder or zip archive
        folder: PathBuf,
        /// Refuse what a lenient import repairs
        #[arg(long)]
        strict: bool,
    },
    /// Save a skill's folder or zip archive as a revision; an equal one is used again
    #[command(visible_alias = "import")]
    Add {
        /// The folder or zip archive
        folder: PathBuf,
        /// Refuse what a lenient import repairs
        #[arg(long)]
        strict: bool,
        /// Make it the revision that runs when none is named
        #[arg(long)]
        publish: bool,
        /// Save it for this team, instead of for yourself
        #[arg(long, value_name = "TEAM")]
        team: Option<String>,
        /// Refuse when a skill of this name is there
        #[arg(long, conflicts_with = "expect")]
        new: bool,
        /// Refuse unless this is the skill's latest revision
        #[arg(long, value_name = "REVISION")]
        expect: Option<String>,
    },
    /// Make the folder of a new skill, with a script to start from
    New {
        /// Its name: a-z, 0-9 and single hyphens
        name: String,
        /// Where to make it [default: a folder of its name, here]
        #[arg(long, value_name = "DIR")]
        output: Option<PathBuf>,
    },
    /// Write a skill's files into a new folder or a zip archive
    Export {
        /// The skill's name
        skill: String,
        /// Its revision [default: the published, else the latest]
        #[arg(long, value_name = "ID")]
        revision: Option<String>,
        /// A folder that is not there yet, or a file that ends in .zip [default: a folder of its name, here]
        #[arg(long, short, value_name = "PATH")]
        output: Option<PathBuf>,
        /// Write the front matter as it was repaired, in the published format
        #[arg(long)]
        repaired: bool,
    },
    /// Show what differs between two revisions
    Diff {
        /// The skill's name
        skill: String,
        /// A revision's number or id [default: the published one, else the one before the latest]
        from: Option<String>,
        /// Another one's [default: the latest]
        to: Option<String>,
    },
    /// Make a revision the one that runs when none is named
    Publish {
        /// The skill's name
        skill: String,
        /// Its revision [default: the latest]
        revision: Option<String>,
    },
    /// Keep a skill from running; nothing is deleted
    Archive {
        /// The skill's name
        skill: String,
    },
    /// Let an archived skill run again
    Unarchive {
        /// The skill's name
        skill: String,
    },
    /// Delete a skill with all its revisions; its grants, executions and the trail stay
    Purge {
        /// The skill's name
        skill: String,
        /// Yes, delete it
        #[arg(long)]
        yes: bool,
    },
    /// List the saved skills
    List,
    /// Show a saved skill: its revisions, files, scripts and their pins
    Show {
        /// Its name
        skill: String,
        /// Show this revision [default: the published, else the latest]
        #[arg(long, value_name = "ID")]
        revision: Option<String>,
    },
}

/// `belljar grant`
#[derive(Debug, Subcommand)]
pub(crate) enum Grant {
    /// Approve a script at the pin you saw
    Add {
        /// The skill's name
        #[arg(required_unless_present = "pending")]
        skill: Option<String>,
        /// The script's path, or * for all scripts
        #[arg(required_unless_present = "pending")]
        script: Option<String>,
        /// The pin you saw; `belljar skill show` prints it
        #[arg(long, value_name = "PIN", required_unless_present_any = ["pending", "from"])]
        pin: Option<String>,
        /// Show what changed since this pin, which you approved or looked at before, and ask; without a terminal or --pin
        /// nothing is granted, and the exit code is 125
        #[arg(long, value_name = "PIN")]
        from: Option<String>,
        /// Approve what was refused, by its id in `belljar grant list --pending`
        #[arg(long, value_name = "ID", conflicts_with_all = ["skill", "script", "pin", "from", "revision"])]
        pending: Option<String>,
        /// The revision that has this pin [default: the published, else the latest]
        #[arg(long, value_name = "ID")]
        revision: Option<String>,
        /// When the grant ends: a time such as 2026-12-31T00:00:00Z, or a duration such as 8h or 30d
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
        /// Revoke the other grants of the same script
        #[arg(long)]
        replace: bool,
    },
    /// List the grants, revoked and expired ones too
    List {
        /// List what was refused for want of a grant instead
        #[arg(long)]
        pending: bool,
    },
    /// Revoke grants; without --stop it takes effect on the next run
    Revoke {
        /// A grant's id, or a skill's name
        grant: String,
        /// With a skill: only the grants of this script, or of *
        script: Option<String>,
        /// Cancel the runs under these grants, too, and wait for their endings
        #[arg(long)]
        stop: bool,
    },
}

/// `belljar exec`
#[derive(Debug, Subcommand)]
pub(crate) enum Exec {
    /// List executions, newest first
    List {
        /// At most so many
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: u32,
    },
    /// Show one execution
    Show {
        /// Its id
        execution: String,
    },
    /// Cancel a run, whichever process runs it, and wait for its ending
    Cancel {
        /// Its id
        execution: String,
    },
}

/// `belljar audit`
#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// List entries
    List {
        /// Only those after this sequence number
        #[arg(long, default_value_t = 0, value_name = "SEQ")]
        after: u64,
    },
    /// Check the whole trail
    Verify {
        /// A head that you kept: it must be on the trail
        #[arg(long, value_name = "SEQ:HASH")]
        expect: Option<String>,
    },
    /// Print the head, SEQ:HASH, to be kept elsewhere
    Head,
    /// Write all entries as JSON lines
    Export,
}

/// `belljar pause` and `belljar resume`
#[derive(Debug, Args)]
pub(crate) struct Pause {
    /// All tenants, not only the local one
    #[arg(long)]
    pub(crate) all: bool,
}

/// `belljar doctor`
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Look at this executor instead of the configured one
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) executor: Option<ExecutorName>,
}

/// `belljar config`
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum Config {
    /// Check the configuration and report everything that is wrong
    Check,
    /// Print the effective configuration
    Show {
        /// Also say where it comes from
        #[arg(long)]
        origin: bool,
    },
    /// Print the JSON Schema of the configuration file
    Schema,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn seconds_are_whole() {
        assert_eq!(["30", "30.0", "-1", "0"].map(|text| whole_seconds(text).unwrap()), [30, 30, -1, 0]);
        for text in ["x", "1.5", "", "1.", ".0", "1e3"] {
            assert!(whole_seconds(text).is_err(), "{text}");
        }
    }
}
