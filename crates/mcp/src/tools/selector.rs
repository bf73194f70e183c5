//! Which skill a call names.

use belljar_core::caller::Owner;
use belljar_core::ids::{RevisionId, SkillId};
use belljar_core::refusal::Refusal;
use belljar_core::run::SkillSelector;
use belljar_executor::SkillName;

use crate::arguments::Arguments;

/// The skill that `slug`, `skill_id` and `team_id` name; none when neither of the first two is given.
pub(super) fn take(arguments: &mut Arguments) -> Result<Option<SkillSelector>, Refusal> {
    let slug = arguments.text("slug")?.map(|slug| SkillName::parse(&slug)).transpose();
    let slug = slug.map_err(|error| Refusal::invalid_argument("slug", error))?;
    let id = arguments.text("skill_id")?.map(|id| SkillId::new(&id));
    let team = arguments.text("team_id")?;
    Ok(match (id, slug, team) {
        (None, None, None) => None,
        (None, Some(slug), None) => Some(SkillSelector::Slug(slug)),
        (Some(id), None, None) => Some(SkillSelector::Id(id)),
        (Some(id), Some(slug), None) => Some(SkillSelector::Both(id, slug)),
        (None, Some(slug), Some(team)) => Some(SkillSelector::Of(Owner::Team(team), slug)),
        (Some(_), _, Some(_)) => {
            return Err(Refusal::invalid_argument("team_id", "goes with `slug`; an id says whose skill it is"));
        }
        (None, None, Some(_)) => return Err(Refusal::invalid_argument("team_id", "goes with `slug`")),
    })
}

/// The revision that `revision_id` names.
pub(super) fn revision(arguments: &mut Arguments) -> Result<Option<RevisionId>, Refusal> {
    Ok(arguments.text("revision_id")?.map(|id| RevisionId::new(&id)))
}
