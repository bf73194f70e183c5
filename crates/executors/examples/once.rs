//! Runs one script file with the bubblewrap executor and prints its outcome as JSON:
//! `once RUNTIME FILE [TIMEOUT_MS [CAP [WORKSPACE_BYTES]]]`, the arguments for the script on standard input.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use belljar_executor::{
    Cancel, ExecutionId, ExecutionRequest, Executor, FileTree, Interpreter, LanguageKey, Limits, LimitsClass,
    LogicalPath, Origin, RequestParts, ScriptName, SkillName, TenantId, WorkingDirectory,
};
use belljar_executors::{Bubblewrap, BubblewrapOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [runtime, file, rest @ ..] = &words[..] else {
        return Err("once RUNTIME FILE [TIMEOUT_MS [CAP [WORKSPACE_BYTES]]]".into());
    };
    let timeout = rest.first().map_or(Ok(10_000), |text| text.parse())?;
    let cap = rest.get(1).map_or(Ok(262_144), |text| text.parse())?;
    let mut limits = Limits::default();
    limits.workspace_bytes = rest.get(2).map_or(Ok(limits.workspace_bytes), |text| text.parse())?;
    let arguments = std::io::read_to_string(std::io::stdin())?;
    let content = std::fs::read_to_string(file)?;
    let path = LogicalPath::parse("scripts/main")?;
    let request = ExecutionRequest::new(RequestParts {
        tenant_id: TenantId::parse("local")?,
        run_id: None,
        execution_id: ExecutionId::parse("once")?,
        skill_name: SkillName::parse("once")?,
        script_name: ScriptName::parse("main")?,
        script_path: path.clone(),
        origin: Origin::Stored,
        interpreter: Interpreter::parse(runtime)?,
        language: LanguageKey::parse("x")?,
        extension: String::new(),
        content: content.as_str().into(),
        source_path: None,
        arguments_json: (!arguments.is_empty()).then(|| arguments.into()),
        argv: Vec::new(),
        cwd: WorkingDirectory::Workspace,
        standalone: false,
        files: FileTree::new(BTreeMap::from([(path, Arc::from(content.as_bytes()))])),
        limits_class: LimitsClass::parse("standard")?,
        limits,
        timeout: Duration::from_millis(timeout),
        max_output_bytes: cap,
    });
    let executor = Bubblewrap::new(BubblewrapOptions::default());
    executor.probe().await?;
    let begun = tokio::time::Instant::now();
    let outcome = executor.execute(request, Cancel::new()).await?;
    let line = serde_json::json!({
        "ending": format!("{:?}", outcome.ending()),
        "stdout": outcome.stdout(),
        "stderr": outcome.stderr(),
        "limits_hit": outcome.limits_hit(),
        "memory_peak_bytes": outcome.usage().map(|usage| usage.memory_peak_bytes),
        "milliseconds": begun.elapsed().as_millis(),
    });
    std::io::Write::write_all(&mut std::io::stdout(), line.to_string().as_bytes())?;
    Ok(())
}
