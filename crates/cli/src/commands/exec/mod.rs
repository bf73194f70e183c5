//! `belljar exec`.

mod cancel;
mod list;
mod show;

use std::process::ExitCode;

use anyhow::Result;

use crate::app;
use crate::arguments::{Exec, Global};

/// Runs one of its commands.
pub(super) async fn run(global: &Global, command: Exec) -> Result<ExitCode> {
    app::with_nothing_running(global, async |app| match command {
        Exec::List { limit } => list::run(global, app, limit).await,
        Exec::Show { execution } => show::run(global, app, &execution).await,
        Exec::Cancel { execution } => cancel::run(global, app, &execution).await,
    })
    .await
}
