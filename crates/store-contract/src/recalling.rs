//! A caller's latest runs of a skill.

use belljar_core::execution::ExecutionRecord;
use belljar_core::ports::Ports;
use belljar_executor::ExecutionId;

use crate::Subject;
use crate::reading::{close, open};
use crate::values::{at, ended, granted_skill, other_tenant, run, slug, tenant};

async fn closed(ports: &Ports, opened: ExecutionRecord) -> ExecutionId {
    open(ports, &opened).await;
    assert!(close(ports, &ended(&opened)).await);
    opened.execution_id
}

async fn recent(ports: &Ports, limit: u32) -> Vec<ExecutionId> {
    let skill = granted_skill();
    let runs = ports.executions.recent(&tenant(), "ada", &slug("demo"), Some(&skill), limit).await.unwrap();
    runs.into_iter().map(|run| run.execution_id).collect()
}

/// They come newest first, no more than asked, and only those that ended.
pub async fn recent_runs_are_those_that_ended_newest_first(subject: &dyn Subject) {
    let ports = subject.open().await;
    let mut ids = Vec::new();
    for moment in [32, 31, 33] {
        ids.push(closed(&ports, ExecutionRecord { created_at: at(moment), ..run(&ports) }).await);
    }
    open(&ports, &ExecutionRecord { created_at: at(40), ..run(&ports) }).await;
    assert_eq!(recent(&ports, 9).await, [ids[2].clone(), ids[0].clone(), ids[1].clone()]);
    assert_eq!(recent(&ports, 1).await, [ids[2].clone()]);
    assert!(recent(&ports, 0).await.is_empty());
}

/// They are the caller's own, of the skill that is asked for: of the stored one with its id, or of one of that name that is
/// not in the store.
pub async fn recent_runs_are_the_callers_of_one_skill(subject: &dyn Subject) {
    let ports = subject.open().await;
    let mine = closed(&ports, run(&ports)).await;
    let unstored = closed(&ports, ExecutionRecord { skill_id: None, ..run(&ports) }).await;
    closed(&ports, ExecutionRecord { caller: "ben".to_owned(), ..run(&ports) }).await;
    closed(&ports, ExecutionRecord { tenant: other_tenant(), ..run(&ports) }).await;
    closed(&ports, ExecutionRecord { skill_id: None, slug: slug("other"), ..run(&ports) }).await;
    let other = belljar_core::ids::SkillId::new("another skill");
    closed(&ports, ExecutionRecord { skill_id: Some(other), ..run(&ports) }).await;
    assert_eq!(recent(&ports, 9).await, [mine]);
    let runs = ports.executions.recent(&tenant(), "ada", &slug("demo"), None, 9).await.unwrap();
    assert_eq!(runs.into_iter().map(|run| run.execution_id).collect::<Vec<_>>(), [unstored]);
}
