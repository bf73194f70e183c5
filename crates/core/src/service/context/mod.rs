//! What an agent should know for a task, in no more tokens than it asks for.

mod excerpts;
mod pack;
mod tokens;

use belljar_executor::{ExecutionId, LogicalPath, SkillName};
use serde::Serialize;
use serde_json::Value;

pub use self::excerpts::Excerpt;
use self::pack::Pack;
use super::recall::SkillSummary;
use super::save::owner_of;
use super::{Belljar, SkillSource, need};
use crate::caller::{Caller, Owner, Scope};
use crate::execution::{ExecutionRecord, Status};
use crate::ids::{RevisionId, SkillId};
use crate::refusal::Refusal;
use crate::run::{SkillSelector, edition, find_skill};
use crate::skill::{InputMode, SearchQuery};
use crate::time::Timestamp;

/// How many of a caller's runs of one skill are shown.
const EXECUTIONS: u32 = 3;

/// Whose skills are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContextScope {
    /// All that the caller sees.
    All,
    /// The caller's own.
    Personal,
    /// A team's.
    Team(String),
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct ContextRequest {
    /// The task, in words.
    pub query: String,
    /// The most skills.
    pub limit: u32,
    /// The most scripts, excerpts and executions together.
    pub max_items: u32,
    /// The most tokens of the whole answer.
    pub max_tokens: u32,
    /// Whose skills.
    pub scope: ContextScope,
    /// Excerpts come only from files whose path begins with this.
    pub path_filter: String,
    /// Whether the skills come as one text in Markdown.
    pub markdown: bool,
}

impl ContextRequest {
    /// The fewest tokens that can be asked for: an empty answer has to fit.
    pub const FEWEST_TOKENS: u32 = 256;
}

/// A script that may run.
#[derive(Clone, Debug, Serialize)]
struct ContextScript {
    path: LogicalPath,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    input: InputMode,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Value>,
}

/// A run of the caller's.
#[derive(Clone, Debug, Serialize)]
struct ContextExecution {
    execution_id: ExecutionId,
    script_path: LogicalPath,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision_id: Option<RevisionId>,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    created_at: Timestamp,
}

/// A skill with what of it fits.
#[derive(Clone, Debug, Serialize)]
struct ContextSkill {
    slug: SkillName,
    description: String,
    source: SkillSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_id: Option<SkillId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision_id: Option<RevisionId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scripts: Vec<ContextScript>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    excerpts: Vec<Excerpt>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    executions: Vec<ContextExecution>,
}

impl Belljar {
    /// The best skills for a task, each with the revision to pin, the paragraphs that speak of the task, the scripts
    /// that this caller may run now, and the caller's latest runs of it: an envelope of the kind `context`, whose
    /// compact JSON never has more tokens than were asked for.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, also for a team that the caller is not in; `INVALID_ARGUMENT` for a query without a word or
    /// too few tokens; `STORE_UNAVAILABLE`.
    pub async fn context(&self, caller: &Caller, request: &ContextRequest) -> Result<Value, Refusal> {
        need(caller, Scope::MemoryRead)?;
        let query = SearchQuery::parse(&request.query);
        let query = query.ok_or_else(|| Refusal::invalid_argument("query", "has no word to look for"))?;
        if request.max_tokens < ContextRequest::FEWEST_TOKENS {
            let fewest = ContextRequest::FEWEST_TOKENS;
            return Err(Refusal::invalid_argument("max_tokens", format!("is less than {fewest}")));
        }
        let owners = self.owners(caller, &request.scope)?;
        let found = self.find_skills_of(caller, &owners, &request.query, request.limit).await?;
        let mut pack = Pack::new(request, found.more);
        let mut whole = Vec::new();
        for summary in found.skills {
            let skill = self.context_skill(caller, summary, &query, &request.path_filter).await?;
            let bare =
                ContextSkill { scripts: Vec::new(), excerpts: Vec::new(), executions: Vec::new(), ..skill.clone() };
            if !pack.add_skill(bare) {
                break;
            }
            whole.push(skill);
        }
        pack.fill(whole);
        Ok(pack.into_envelope())
    }

    fn owners(&self, caller: &Caller, scope: &ContextScope) -> Result<Vec<Owner>, Refusal> {
        Ok(match scope {
            ContextScope::All => caller.owners(),
            ContextScope::Personal => vec![caller.personal()],
            ContextScope::Team(team) => vec![owner_of(caller, Some(team))?],
        })
    }

    /// A skill with everything that could be said of it.
    async fn context_skill(
        &self,
        caller: &Caller,
        summary: SkillSummary,
        query: &SearchQuery,
        prefix: &str,
    ) -> Result<ContextSkill, Refusal> {
        let selector = match &summary.skill_id {
            Some(id) => SkillSelector::Id(id.clone()),
            None => SkillSelector::Slug(summary.slug.clone()),
        };
        let located = find_skill(&self.world, caller, &selector).await?;
        let edition = edition(&self.world, caller, located, summary.revision_id.as_ref()).await?;
        let scripts = self.scripts(caller, &edition, false).await?.into_iter().filter(|script| script.runnable);
        let executions = &self.world.ports.executions;
        let (tenant, subject, id) = (caller.tenant(), caller.subject(), summary.skill_id.as_ref());
        let recent = executions.recent(tenant, subject, &summary.slug, id, EXECUTIONS).await?;
        Ok(ContextSkill {
            excerpts: excerpts::find(&edition, query, prefix),
            scripts: scripts
                .map(|script| ContextScript {
                    path: script.path,
                    description: script.description,
                    input: script.input,
                    parameters: script.parameters,
                })
                .collect(),
            executions: recent.into_iter().map(ContextExecution::from).collect(),
            slug: summary.slug,
            description: summary.description,
            source: summary.source,
            skill_id: summary.skill_id,
            revision_id: summary.revision_id,
        })
    }
}

impl From<ExecutionRecord> for ContextExecution {
    fn from(record: ExecutionRecord) -> Self {
        Self {
            execution_id: record.execution_id,
            script_path: record.script_path,
            revision_id: record.revision_id,
            status: record.status,
            exit_code: record.exit_code,
            created_at: record.created_at,
        }
    }
}
