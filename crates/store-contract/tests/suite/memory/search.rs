//! Finding skills by words: every text of every skill, each time.

use std::cmp::Reverse;

use belljar_core::caller::Owner;
use belljar_core::execution::Status;
use belljar_core::skill::{FoundSkill, Revision, SearchQuery, Skill, instructions};
use belljar_core::time::Timestamp;
use belljar_executor::TenantId;

use super::{Data, Defect, Handle};

impl Handle {
    pub(super) fn found(
        &self,
        tenant: &TenantId,
        owners: &[Owner],
        query: Option<&SearchQuery>,
        limit: u32,
    ) -> Vec<FoundSkill> {
        let sees = |skill: &Skill| owners.contains(&skill.owner) || self.has(Defect::SearchesForEveryOwner);
        let counts = |skill: &Skill| !skill.archived || self.has(Defect::FindsTheArchived);
        let mut found = self.read(|data| {
            let skills = data.skills.iter().filter(|skill| skill.tenant == *tenant && sees(skill) && counts(skill));
            let scored = skills.filter_map(|skill| {
                let revision = self.current(data, skill)?;
                let score = query.map_or(1, |query| self.score(data, skill, revision, query));
                (score > 0).then(|| (score, used(data, skill, revision)))
            });
            scored.collect::<Vec<_>>()
        });
        found.sort_by_key(|(score, found)| {
            let score = if self.has(Defect::RanksByUseAlone) { 0 } else { *score };
            let use_of_it = (found.last_run_at, found.succeeded, found.skill.created_at);
            let use_of_it = if self.has(Defect::IgnoresUse) { (None, 0, found.skill.created_at) } else { use_of_it };
            (Reverse((score, use_of_it)), found.skill.slug.clone())
        });
        found.truncate(limit.try_into().unwrap());
        found.into_iter().map(|(_, found)| found).collect()
    }

    fn current<'d>(&self, data: &'d Data, skill: &Skill) -> Option<&'d Revision> {
        let published = skill.published.as_ref().filter(|_| !self.has(Defect::SearchesTheLatest));
        let mut its = data.revisions.iter().rev().map(|(_, revision)| revision);
        its.find(|revision| revision.skill_id == skill.id && published.is_none_or(|id| *id == revision.id))
    }

    /// How well it matches: a word in the name counts most.
    fn score(&self, data: &Data, skill: &Skill, revision: &Revision, query: &SearchQuery) -> usize {
        let name = 1000 * query.matches_in(skill.slug.as_str());
        if self.has(Defect::SearchesNamesAlone) {
            return name;
        }
        let files = revision.manifest.files.keys();
        let names: Vec<_> = files.map(ToString::to_string).collect();
        let index = data.files[&(skill.tenant.clone(), revision.id.clone())]
            .iter()
            .find(|(path, _)| path.as_str() == "SKILL.md")
            .and_then(|(_, digest)| data.contents.get(&(skill.tenant.clone(), *digest)));
        name + 100 * query.matches_in(&revision.manifest.description)
            + 10 * query.matches_in(&names.join(" "))
            + query.matches_in(index.map(|bytes| instructions(bytes)).unwrap_or_default())
    }
}

fn used(data: &Data, skill: &Skill, revision: &Revision) -> FoundSkill {
    let is_use = |status: Status| !matches!(status, Status::Running | Status::NotStarted);
    let runs: Vec<_> = data
        .runs
        .iter()
        .filter(|run| run.tenant == skill.tenant && run.skill_id.as_ref() == Some(&skill.id) && is_use(run.status))
        .collect();
    let last_run_at: Option<Timestamp> = runs.iter().map(|run| run.created_at).max();
    FoundSkill {
        skill: skill.clone(),
        revision: revision.id.clone(),
        runs: runs.len() as u64,
        succeeded: runs.iter().filter(|run| run.status == Status::Success).count() as u64,
        last_run_at,
    }
}
