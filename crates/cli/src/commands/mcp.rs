//! `belljar mcp`.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use belljar_core::refusal::Refusal;
use belljar_mcp::{Server, serve_stdio};
use serde_json::{Value, json};

use crate::app;
use crate::arguments::{Global, Mcp};
use crate::signals::{self, Stops};
use crate::{exit, output, state};

/// Serves one client, or prints how a host starts this.
pub(super) async fn run(global: &Global, arguments: Mcp) -> Result<ExitCode> {
    if arguments.print_config {
        return print_config(global, &arguments);
    }
    if std::io::stdin().is_terminal() {
        output::note(
            "belljar: this speaks the Model Context Protocol with an agent host on standard input and output;",
        );
        output::note("         `belljar mcp --print-config` prints the entry for the host's list of servers");
    }
    let mut stops = Stops::watch().context("signals cannot be watched")?;
    app::with(global, arguments.executor, async |app| {
        let options = app.config.mcp.options().map_err(|error| anyhow!("{error}"))?;
        let server = Server::new(app.belljar.clone(), state::agent(&app.config.local)?, options);
        let mut was_stopped = false;
        let stop = async {
            stops.next().await;
            was_stopped = true;
            tokio::spawn(async move {
                stops.next().await;
                signals::end();
            });
        };
        serve_stdio(server, stop).await?;
        Ok(if was_stopped { ExitCode::from(exit::CANCELLED) } else { ExitCode::SUCCESS })
    })
    .await
}

/// The entry for a host's list of servers: this program, the state and the configuration that are in use here.
fn print_config(global: &Global, arguments: &Mcp) -> Result<ExitCode> {
    let program = std::env::current_exe().context("the path of this program is unknown")?;
    let mut words = vec![json!("mcp")];
    let named = [("--state", global.state.as_deref()), ("--config", global.config.as_deref())];
    for (option, path) in named.iter().filter_map(|(option, path)| path.map(|path| (option, path))) {
        words.extend([json!(option), absolute(path)?]);
    }
    if let Some(executor) = arguments.executor {
        words.extend([json!("--executor"), json!(executor)]);
    }
    let config = json!({ "mcpServers": { "belljar": { "command": absolute(&program)?, "args": words } } });
    output::line(&serde_json::to_string_pretty(&config).context("the entry has no text form")?);
    Ok(ExitCode::SUCCESS)
}

fn absolute(path: &Path) -> Result<Value> {
    let whole = std::path::absolute(path).with_context(|| format!("{} cannot be made absolute", path.display()))?;
    let text = whole.to_str().ok_or_else(|| {
        let message = format!("{} is not UTF-8, and a host's configuration is", path.display());
        anyhow::Error::from(Refusal::invalid_argument("path", message))
    })?;
    Ok(json!(text))
}
