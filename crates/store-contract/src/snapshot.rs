//! Everything that a handle can read, to be compared with what it reads later.

use belljar_core::audit::{AuditEntry, Head};
use belljar_core::execution::ExecutionRecord;
use belljar_core::grant::{Grant, PendingGrant};
use belljar_core::ports::Ports;
use belljar_core::skill::{Revision, Skill};
use belljar_executor::{Digest, ExecutionId, TenantId};

use crate::reading::trail;
use crate::values::{at, other_tenant, owner, team, tenant};

/// Two tenants.
#[derive(Debug, PartialEq)]
pub(crate) struct Snapshot([Contents; 2]);

#[derive(Debug, PartialEq)]
struct Contents {
    skills: Vec<Skill>,
    revisions: Vec<(Revision, Digest)>,
    grants: Vec<Grant>,
    pending: Vec<PendingGrant>,
    runs: Vec<ExecutionRecord>,
    running: Vec<ExecutionId>,
    is_paused: bool,
    entries: Vec<AuditEntry>,
    head: Head,
}

impl Snapshot {
    /// What this handle sees now.
    pub(crate) async fn of(ports: &Ports) -> Self {
        Self([contents(ports, &tenant()).await, contents(ports, &other_tenant()).await])
    }
}

async fn contents(ports: &Ports, tenant: &TenantId) -> Contents {
    let skills = ports.skills.list(tenant, &[owner(), team()]).await.unwrap();
    let mut revisions = Vec::new();
    for skill in &skills {
        for revision in ports.skills.revisions(tenant, &skill.id).await.unwrap() {
            let files = ports.skills.files(tenant, &revision.id).await.unwrap();
            revisions.push((revision, files.digest()));
        }
    }
    let running = ports.executions.running(tenant).await.unwrap();
    Contents {
        skills,
        revisions,
        grants: ports.grants.list(tenant).await.unwrap(),
        pending: ports.grants.pending(tenant, at(1_000)).await.unwrap(),
        runs: ports.executions.list(tenant, 100).await.unwrap(),
        running: running.into_iter().map(|run| run.execution_id).collect(),
        is_paused: ports.pauses.is_paused(tenant).await.unwrap(),
        entries: trail(ports, tenant).await,
        head: ports.audit.head(tenant).await.unwrap(),
    }
}
