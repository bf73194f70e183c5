//! An agent host in one file: its own skill and executor, an approval, a run, and the record of it.

#![expect(clippy::print_stdout, reason = "this is a program for people")]

use anyhow::{Result, anyhow};
use belljar_core::Belljar;
use belljar_core::caller::{Caller, Scope};
use belljar_core::run::{Call, SkillSelector};
use belljar_core::service::GrantRequest;
use belljar_core::skill::{Strictness, from_files};
use belljar_executor::{Cancel, Captured, ExecutionRequest, Executor, ExecutorError, Outcome, async_trait};
use belljar_store::{Store, StoreOptions};

/// Runs scripts in the language `sum`: numbers, one a line. They are added up right here.
#[derive(Debug)]
struct Adder;

#[async_trait]
impl Executor for Adder {
    fn name(&self) -> &'static str {
        "adder"
    }

    async fn execute(&self, request: ExecutionRequest, _cancel: Cancel) -> Result<Outcome, ExecutorError> {
        let numbers: Result<Vec<i64>, _> = request.parts().content.split_whitespace().map(str::parse).collect();
        let sum: i64 = numbers.map_err(ExecutorError::fault)?.iter().sum();
        let stdout = Captured { text: format!("{sum}\n"), truncated: false };
        Ok(Outcome::exited(0, stdout, Captured::default()))
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let index = "---\nname: totals\ndescription: Adds up the numbers of a quarter.\n---\n";
    let declared = "[scripts.\"scripts/q3.sum\"]\n".as_bytes();
    let files = [("SKILL.md", index.as_bytes()), ("belljar.toml", declared), ("scripts/q3.sum", b"40\n2\n")];
    let skill = from_files(files, Strictness::Strict).map_err(|problems| anyhow!("{problems:?}"))?;
    let state = tempfile::tempdir()?;
    let store = Store::open(StoreOptions::new(state.path())).await?;
    let builder = Belljar::builder().enable().acknowledge_platform_isolation().allow_stored_scripts();
    let builder = builder.interpreter("sum", "adder").register_skill(skill).ports(store.ports());
    let belljar = builder.executor(Adder).require_custom_executor().build().await?;

    // An agent may call; a person approves what it sees, at its pin.
    let agent = Caller::authenticated("acme".parse()?, "agent-7", [], [Scope::MemoryRead, Scope::MemoryWrite]);
    let person = Caller::authenticated("acme".parse()?, "ana", [], Scope::ALL);
    let skill = SkillSelector::Slug("totals".parse()?);
    let call = Call::new(skill.clone(), "scripts/q3.sum");
    let Err(refusal) = belljar.execute(&agent, call.clone()).await else { return Err(anyhow!("nobody approved this")) };
    println!("before: {refusal}");
    let pins = belljar.pins(&person, &skill, None).await?;
    belljar
        .grant(&person, GrantRequest::new(skill, "scripts/q3.sum", pins.scripts[&"scripts/q3.sum".parse()?].pin))
        .await?;
    let answer = belljar.execute(&agent, call).await?;
    println!("after:  {} {}", answer.record.status.as_str(), answer.record.stdout.trim());
    println!("trail:  {}", belljar.verify_audit(&person, None).await?.head);
    Ok(())
}
