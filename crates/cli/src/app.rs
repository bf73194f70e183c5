//! The one place that builds the world: store, executor, clock, service.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use belljar_core::Belljar;
use belljar_core::caller::Caller;
use belljar_core::code::Code;
use belljar_core::options::{OptionsDraft, UnknownRuntimes};
use belljar_core::refusal::Refusal;
use belljar_executor::Executor;
use belljar_executors::{Bubblewrap, BubblewrapOptions, Local, LocalOptions};
use belljar_store::{Store, StoreOptions};

use crate::arguments::Global;
use crate::config::{self, Config, ExecutorName, Loaded, Origin};
use crate::output;
use crate::state;

/// A running world.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) belljar: Belljar,
    pub(crate) caller: Caller,
    /// Where scripts run; none in a world in which nothing runs.
    pub(crate) executor: Option<Chosen>,
    pub(crate) config: Config,
    store: Store,
}

/// The executor that the configuration and the command line name.
#[derive(Clone, Debug)]
pub(crate) enum Chosen {
    /// Sandboxes.
    Bubblewrap(Arc<Bubblewrap>),
    /// Plain processes; nothing isolates them.
    Local(Arc<Local>),
}

impl Chosen {
    /// The executor.
    pub(crate) fn executor(&self) -> Arc<dyn Executor> {
        match self {
            Self::Bubblewrap(executor) => executor.clone(),
            Self::Local(executor) => executor.clone(),
        }
    }
}

/// Builds the world, does something in it, and closes the store, whatever came of it.
pub(crate) async fn with<T>(
    global: &Global,
    executor: Option<ExecutorName>,
    work: impl AsyncFnOnce(&App) -> Result<T>,
) -> Result<T> {
    finish(build(global, executor).await?, work).await
}

/// Builds a world in which nothing runs, for commands that read the record or stop things: a
/// configuration that keeps scripts from running must not keep anybody from that, nor need they wait for
/// a sandbox to be probed.
pub(crate) async fn with_nothing_running<T>(global: &Global, work: impl AsyncFnOnce(&App) -> Result<T>) -> Result<T> {
    let config = config::load(global.config.as_deref()).map(|loaded| loaded.config).unwrap_or_else(|error| {
        let error = output::safe_lines(&format!("{error:#}"));
        output::note(&format!("belljar: {error}; going on as a member of no team, without file skills"));
        Config::default()
    });
    let store = open_store(global).await?;
    let skill_roots = config.skills.roots.iter().filter(|root| root.is_absolute()).cloned().collect();
    let draft = OptionsDraft { skill_roots, ..OptionsDraft::default() };
    let builder = Belljar::builder().options(draft).ports(store.ports());
    let belljar = builder.build().await.map_err(|error| anyhow!("{error}"))?;
    finish(App { belljar, caller: state::caller(&config.local)?, executor: None, config, store }, work).await
}

async fn finish<T>(app: App, work: impl AsyncFnOnce(&App) -> Result<T>) -> Result<T> {
    let done = work(&app).await;
    app.store.close().await;
    done
}

/// Builds the world that the configuration and the command line describe.
async fn build(global: &Global, executor: Option<ExecutorName>) -> Result<App> {
    let Loaded { config, origin } = config::load(global.config.as_deref())?;
    let name = executor.unwrap_or(config.execution.executor);
    if name == ExecutorName::Local && config.execution.executor != ExecutorName::Local {
        let message = "`local` isolates nothing: it runs only where the configuration file says executor = \"local\" \
                       under [execution]";
        return Err(Refusal::invalid_argument("--executor", message).into());
    }
    let chosen = choose(name, &config);
    let mut draft = config.draft(name);
    if origin == Origin::BuiltIn {
        // Nobody wrote this list for this host: a runtime that is not installed is left out.
        draft.unknown_runtimes = UnknownRuntimes::LeaveOut;
    }
    let store = open_store(global).await?;
    let missing = config.missing_interpreters(name);
    let builder =
        Belljar::builder().options(draft).faults(missing).ports(store.ports()).default_executor(chosen.executor());
    let belljar = builder.build().await.map_err(|error| anyhow!("{error}\n(configuration: {origin})"))?;
    let caller = state::caller(&config.local)?;
    Ok(App { belljar, caller, executor: Some(chosen), config, store })
}

/// The executor of a name. `auto` is the best isolating one of this host, never one that does not isolate.
pub(crate) fn choose(name: ExecutorName, config: &Config) -> Chosen {
    match name {
        ExecutorName::Auto | ExecutorName::Bubblewrap => {
            let mut options = BubblewrapOptions::default();
            options.program.clone_from(&config.bubblewrap.program);
            Chosen::Bubblewrap(Arc::new(Bubblewrap::new(options)))
        }
        ExecutorName::Local => Chosen::Local(Arc::new(Local::new(LocalOptions::default()))),
    }
}

/// Opens the store of the state folder.
pub(crate) async fn open_store(global: &Global) -> Result<Store> {
    let folder = state::folder(global.state.as_ref())?;
    Store::open(StoreOptions::new(folder))
        .await
        .map_err(|error| Refusal::new(Code::StoreUnavailable, error.to_string()).into())
}

/// Everything that is wrong with a configuration and can be told without a sandbox.
pub(crate) fn check(config: &Config) -> Vec<String> {
    let executor = config.execution.executor;
    let mut faults = config.draft(executor).check().err().unwrap_or_default();
    faults.extend(config.mcp.options().err());
    if config.execution.enabled {
        faults.extend(config.missing_interpreters(executor));
    }
    faults
}
