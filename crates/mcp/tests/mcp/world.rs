//! A service over a store of its own, whose scripts say themselves how they end, and clients of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use belljar_core::Belljar;
use belljar_core::audit::{Action, AuditEntry};
use belljar_core::caller::{Caller, Scope};
use belljar_core::options::OptionsDraft;
use belljar_executor::{
    Cancel, Captured, Cause, ExecutionRequest, Executor, ExecutorError, LimitHit, Outcome, Report, TenantId,
    Unavailable,
};
use belljar_mcp::{Options, Server};
use belljar_store::{Store, StoreOptions};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::client::Client;

/// Does what a script's first word says.
#[derive(Debug)]
pub(crate) struct Obedient {
    pub(crate) is_ready: bool,
    /// Told when a script that waits has begun.
    pub(crate) begun: Arc<Notify>,
}

#[async_trait]
impl Executor for Obedient {
    fn name(&self) -> &'static str {
        "obedient"
    }

    async fn probe(&self) -> Result<Report, Unavailable> {
        if self.is_ready {
            return Ok(Report::unknown());
        }
        let (message, remedy) = ("no sandbox".to_owned(), "get one".to_owned());
        Err(Unavailable { cause: Cause::Other, control: None, message, remedy })
    }

    async fn execute(&self, request: ExecutionRequest, cancel: Cancel) -> Result<Outcome, ExecutorError> {
        let parts = request.parts();
        let text = |text: String| Captured { text, truncated: false }.capped(parts.max_output_bytes);
        let out = |code, stdout: String| Ok(Outcome::exited(code, text(stdout), text(String::new())));
        let (word, rest) = parts.content.split_once(' ').unwrap_or((&parts.content, ""));
        match word {
            "exit" => Ok(Outcome::exited(rest.parse().unwrap(), text("out".into()), text("err".into()))),
            "print" => out(0, rest.to_owned()),
            "repeat" => {
                let (count, what) = rest.split_once(' ').unwrap();
                let written = what.repeat(count.parse().unwrap());
                Ok(Outcome::exited(0, text(written.clone()), text(written)))
            }
            "input" => out(0, json!({ "input": parts.arguments_json, "argv": parts.argv }).to_string()),
            "run-id" => out(0, format!("{:?}", parts.run_id)),
            "wait" => {
                self.begun.notify_one();
                cancel.fired().await;
                Err(ExecutorError::cancelled())
            }
            "deadline" => Ok(Outcome::timed_out(text("so far".into()), text(String::new()))),
            "memory" => {
                Ok(Outcome::signalled(9, text(String::new()), text(String::new()))
                    .with_limits_hit(vec![LimitHit::Memory]))
            }
            "fault" => Err(ExecutorError::fault("its cause, which nobody is told")),
            other => panic!("no script says {other}"),
        }
    }
}

/// A service and what it stands on.
pub(crate) struct World {
    pub(crate) belljar: Belljar,
    pub(crate) begun: Arc<Notify>,
    pub(crate) folder: TempDir,
}

pub(crate) fn options() -> OptionsDraft {
    OptionsDraft {
        enabled: true,
        platform_isolation_acknowledged: true,
        allow_stored_scripts: true,
        interpreters: BTreeMap::from([("sh".into(), "sh".into())]),
        ..OptionsDraft::default()
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(options(), true).await
    }

    pub(crate) async fn with(options: OptionsDraft, is_ready: bool) -> Self {
        Self::over(TempDir::new().unwrap(), options, is_ready).await
    }

    pub(crate) async fn over(folder: TempDir, options: OptionsDraft, is_ready: bool) -> Self {
        let store = Store::open(StoreOptions::new(folder.path())).await.unwrap();
        let begun = Arc::new(Notify::new());
        let executor = Obedient { is_ready, begun: Arc::clone(&begun) };
        let builder = Belljar::builder().options(options).ports(store.ports()).executor(executor);
        Self { belljar: builder.build().await.unwrap(), begun, folder }
    }

    pub(crate) fn database(&self) -> std::path::PathBuf {
        Path::new(self.folder.path()).join("belljar.db")
    }

    /// A client that speaks for `ana`, who is in the team `red`.
    pub(crate) async fn client(&self) -> Client {
        self.client_of(agent("ana", &["red"]), Options::default()).await
    }

    pub(crate) async fn client_of(&self, caller: Caller, options: Options) -> Client {
        Client::start(Server::new(self.belljar.clone(), caller, options)).await
    }

    /// Approves what waits for a grant.
    pub(crate) async fn approve(&self) {
        for pending in self.belljar.pending_grants(&person()).await.unwrap() {
            self.belljar.grant_pending(&person(), &pending.id, None, false).await.unwrap();
        }
    }

    /// Saves a published skill with one script, `scripts/a.sh`, and approves it.
    pub(crate) async fn approved(&self, client: &mut Client, name: &str, script: &str) -> Value {
        let saved = client.data("save_cloud_skill", saving(name, &[("scripts/a.sh", script)])).await;
        let denied = client.error("execute_cloud_skill", json!({ "slug": name, "script_path": "scripts/a.sh" })).await;
        assert_eq!(denied["code"], "SCRIPT_DENIED");
        self.approve().await;
        saved
    }

    pub(crate) async fn entries_of(&self, action: Action) -> Vec<AuditEntry> {
        let page = self.belljar.audit_page(&person(), 0).await.unwrap();
        page.entries.into_iter().filter(|entry| entry.action == action).collect()
    }

    /// The trail is valid, and every run has its outcome.
    pub(crate) async fn assert_trail_is_whole(&self) {
        let verification = self.belljar.verify_audit(&person(), None).await.unwrap();
        assert_eq!(verification.fault, None);
        assert_eq!((verification.runs, verification.running), (verification.outcomes, 0));
    }
}

/// The arguments that make a skill with these files, published.
pub(crate) fn saving(name: &str, files: &[(&str, &str)]) -> Value {
    let components: Vec<_> = files.iter().map(|(path, content)| json!({ "path": path, "content": content })).collect();
    json!({
        "name": name,
        "description": "A skill for tests.",
        "instructions": "Body.",
        "components_json": json!(components).to_string(),
        "publish": true,
    })
}

fn tenant() -> TenantId {
    TenantId::parse("local").unwrap()
}

/// Somebody's agent.
pub(crate) fn agent(subject: &str, teams: &[&str]) -> Caller {
    let teams = teams.iter().map(|team| (*team).to_owned());
    Caller::authenticated(tenant(), subject, teams, [Scope::MemoryRead, Scope::MemoryWrite])
}

/// Ana herself, who may approve.
pub(crate) fn person() -> Caller {
    Caller::authenticated(tenant(), "ana", ["red".to_owned(), "blue".to_owned()], Scope::ALL)
}
