//! The one place that builds the world: store, executor, clock, service.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use belljar_core::Belljar;
use belljar_core::caller::Caller;
use belljar_core::code::Code;
use belljar_core::ids::OwnerId;
use belljar_core::options::{OptionsDraft, UnknownRuntimes};
use belljar_core::ports::{Ids, Ports};
use belljar_core::refusal::Refusal;
use belljar_executors::{Bubblewrap, BubblewrapOptions};
use belljar_store::{Store, StoreOptions};

use crate::arguments::Global;
use crate::config::{self, Config, ExecutorName, Loaded, Local, Origin};
use crate::output;
use crate::state;
use crate::world::{SystemClock, UuidIds};

/// A running world.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) belljar: Belljar,
    pub(crate) caller: Caller,
    /// Where scripts run; none in a world in which nothing runs.
    pub(crate) executor: Option<Arc<Bubblewrap>>,
    store: Store,
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
    let local = config::load(global.config.as_deref()).map(|loaded| loaded.config.local).unwrap_or_else(|error| {
        output::note(&format!(
            "belljar: {}; going on as a member of no team",
            output::safe_lines(&format!("{error:#}"))
        ));
        Local::default()
    });
    let store = open_store(global).await?;
    let builder = Belljar::builder().options(OptionsDraft::default()).ports(ports(&store));
    let belljar = builder.build().await.map_err(|error| anyhow!("{error}"))?;
    finish(App { belljar, caller: state::caller(&local)?, executor: None, store }, work).await
}

async fn finish<T>(app: App, work: impl AsyncFnOnce(&App) -> Result<T>) -> Result<T> {
    let done = work(&app).await;
    app.store.close().await;
    done
}

/// Builds the world that the configuration and the command line describe.
async fn build(global: &Global, executor: Option<ExecutorName>) -> Result<App> {
    let Loaded { config, origin } = config::load(global.config.as_deref())?;
    let executor = Arc::new(self::executor(executor, &config));
    let mut draft = config.draft();
    if origin == Origin::BuiltIn {
        // Nobody wrote this list for this host: a runtime that is not installed is left out.
        draft.unknown_runtimes = UnknownRuntimes::LeaveOut;
    }
    let store = open_store(global).await?;
    let ports = ports(&store);
    let missing = config.missing_interpreters();
    let builder =
        Belljar::builder().options(draft).faults(missing).ports(ports).default_executor(Arc::clone(&executor));
    let belljar = builder.build().await.map_err(|error| anyhow!("{error}\n(configuration: {origin})"))?;
    let caller = state::caller(&config.local)?;
    Ok(App { belljar, caller, executor: Some(executor), store })
}

fn ports(store: &Store) -> Ports {
    Ports {
        skills: Arc::new(store.clone()),
        grants: Arc::new(store.clone()),
        audit: Arc::new(store.clone()),
        executions: Arc::new(store.clone()),
        pauses: Arc::new(store.clone()),
        clock: Arc::new(SystemClock),
        ids: Arc::new(UuidIds),
    }
}

/// The executor of a name. `auto` is the best isolating one of this host, never one that does not isolate.
pub(crate) fn executor(name: Option<ExecutorName>, config: &Config) -> Bubblewrap {
    match name.unwrap_or(config.execution.executor) {
        ExecutorName::Auto | ExecutorName::Bubblewrap => {
            let mut options = BubblewrapOptions::default();
            options.program.clone_from(&config.bubblewrap.program);
            Bubblewrap::new(options)
        }
    }
}

/// Opens the store of the state folder.
pub(crate) async fn open_store(global: &Global) -> Result<Store> {
    let folder = state::folder(global.state.as_ref())?;
    let owner = OwnerId::new(&UuidIds.new_id());
    Store::open(StoreOptions::new(folder), owner)
        .await
        .map_err(|error| Refusal::new(Code::StoreUnavailable, error.to_string()).into())
}

/// Everything that is wrong with a configuration and can be told without a sandbox.
pub(crate) fn check(config: &Config) -> Vec<String> {
    let mut faults = config.draft().check().err().unwrap_or_default();
    if config.execution.enabled {
        faults.extend(config.missing_interpreters());
    }
    faults
}
