//! Which skills there are for some words.

use std::collections::BTreeMap;

use belljar_executor::SkillName;

use super::{FoundSkills, SkillSource, SkillSummary};
use crate::caller::{Caller, Owner, Scope};
use crate::refusal::Refusal;
use crate::service::{Belljar, need};
use crate::skill::SearchQuery;

impl Belljar {
    /// The skills that match, best first; without words all of them, the latest used or made first.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `STORE_UNAVAILABLE`.
    pub async fn find_skills(&self, caller: &Caller, query: &str, limit: u32) -> Result<FoundSkills, Refusal> {
        self.find_skills_of(caller, &caller.owners(), query, limit).await
    }

    pub(in crate::service) async fn find_skills_of(
        &self,
        caller: &Caller,
        owners: &[Owner],
        query: &str,
        limit: u32,
    ) -> Result<FoundSkills, Refusal> {
        need(caller, Scope::MemoryRead)?;
        let words = SearchQuery::parse(query);
        if words.is_none() && !query.trim().is_empty() {
            return Ok(FoundSkills { skills: Vec::new(), more: false });
        }
        let wanted = limit.saturating_add(1);
        let stored = self.world.ports.skills.search(caller.tenant(), owners, words.as_ref(), wanted).await?;
        let stored = stored.into_iter().filter(|found| !self.world.registered.contains_key(&found.skill.slug));
        let mut skills: Vec<SkillSummary> = stored.map(SkillSummary::from).collect();
        if owners.contains(&caller.personal()) {
            skills.extend(self.outside_the_store(caller, words.as_ref(), wanted as usize).await?);
        }
        let more = skills.len() > limit as usize;
        skills.truncate(limit as usize);
        Ok(FoundSkills { skills, more })
    }

    /// The registered and file skills that match; no name that a stored skill has.
    async fn outside_the_store(
        &self,
        caller: &Caller,
        words: Option<&SearchQuery>,
        most: usize,
    ) -> Result<Vec<SkillSummary>, Refusal> {
        let registered = self.world.registered.values().map(|read| {
            summary(SkillSource::Registered, read.manifest.name.clone(), read.manifest.description.clone())
        });
        let mut outside: BTreeMap<SkillName, SkillSummary> =
            registered.map(|skill| (skill.slug.clone(), skill)).collect();
        if !self.world.options.skill_roots().is_empty() {
            for skill in self.in_roots().await?.0 {
                let entry = outside.entry(skill.slug.clone());
                entry.or_insert_with(|| summary(SkillSource::File, skill.slug, skill.description));
            }
        }
        let matches = |skill: &SkillSummary| {
            words.map_or(1, |words| words.matches_in(&format!("{} {}", skill.slug, skill.description)))
        };
        let mut matching: Vec<_> = outside.into_values().filter(|skill| matches(skill) > 0).collect();
        matching.sort_by_key(|skill| std::cmp::Reverse(matches(skill)));
        let mut free = Vec::new();
        for skill in matching {
            let skills = &self.world.ports.skills;
            let is_hidden = skill.source == SkillSource::File
                && skills.find_by_slug(caller.tenant(), &caller.owners(), &skill.slug).await?.is_some();
            if !is_hidden {
                free.push(skill);
            }
            if free.len() == most {
                break;
            }
        }
        Ok(free)
    }
}

const fn summary(source: SkillSource, slug: SkillName, description: String) -> SkillSummary {
    SkillSummary {
        slug,
        description,
        source,
        skill_id: None,
        owner: None,
        revision_id: None,
        published: None,
        runs: None,
        succeeded: None,
        last_run_at: None,
    }
}
