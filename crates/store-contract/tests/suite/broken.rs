//! Each broken store fails the clause that was written against its defect.

use std::collections::BTreeSet;

use belljar_store_contract::Clause;

use crate::memory::{Database, Defect};

/// Every clause, with a defect that it finds.
const BROKEN: &[(&str, Defect)] = &[
    ("skills_of_another_tenant_are_not_read", Defect::ReadsSkillsOfAllTenants),
    ("skills_of_another_tenant_are_not_changed", Defect::ChangesSkillsOfAllTenants),
    ("the_same_name_is_another_skill_in_another_tenant", Defect::HasOneNameForAllTenants),
    ("grants_of_another_tenant_are_neither_read_nor_changed", Defect::SharesGrants),
    ("runs_of_another_tenant_are_neither_read_nor_changed", Defect::SharesRuns),
    ("trails_of_tenants_are_apart", Defect::ShowsOneTrail),
    ("a_slug_is_found_in_the_order_of_owners", Defect::FindsTheOldest),
    ("an_id_is_found_whoever_owns_it", Defect::FindsPersonalSkills),
    ("skills_are_listed_by_slug", Defect::ListsSkillsById),
    ("every_text_of_a_skill_is_searched", Defect::SearchesNamesAlone),
    ("a_search_finds_what_its_owners_have", Defect::SearchesForEveryOwner),
    ("the_current_revision_is_what_is_searched", Defect::SearchesTheLatest),
    ("an_archived_skill_is_not_found", Defect::FindsTheArchived),
    ("the_best_match_comes_first", Defect::RanksByUseAlone),
    ("of_equal_matches_the_one_that_served_last_comes_first", Defect::IgnoresUse),
    ("a_first_save_makes_the_skill_and_its_first_revision", Defect::ForgetsWhoSaved),
    ("revisions_are_numbered_and_listed_newest_first", Defect::KeepsTheFirstDescription),
    ("an_equal_manifest_uses_its_revision_again", Defect::ComparesManifestsWithTheLatest),
    ("the_current_revision_is_the_published_one_else_the_latest", Defect::RunsTheLatest),
    ("files_come_back_byte_for_byte", Defect::KeepsFilesAsText),
    ("files_of_no_revision_are_an_error", Defect::GivesAnEmptyTree),
    ("files_other_than_those_of_the_manifest_are_refused", Defect::TrustsTheManifest),
    ("a_save_publishes_when_that_is_asked", Defect::PublishesOnlyWhatIsNew),
    ("a_create_conflicts_with_what_is_there", Defect::CreatesWhatIsThere),
    ("an_update_from_a_stale_revision_conflicts", Defect::UpdatesFromAnyRevision),
    ("an_update_is_compared_with_the_latest_and_not_the_published", Defect::UpdatesFromThePublished),
    ("an_archived_skill_takes_no_revision", Defect::SavesIntoTheArchive),
    ("of_racing_creates_one_wins", Defect::ChecksItsOwnCopy),
    ("of_racing_updates_one_wins", Defect::UpdatesFromAnyRevision),
    ("racing_saves_leave_no_gap", Defect::NumbersItsOwnSaves),
    ("of_racing_equal_saves_one_is_new", Defect::ChecksItsOwnCopy),
    ("racing_entries_are_one_chain", Defect::ChainsItsOwnEntries),
    ("racing_grants_of_one_key_are_one", Defect::ChecksItsOwnCopy),
    ("of_racing_closes_one_counts", Defect::ClosesAgain),
    ("publishing_moves_one_pointer", Defect::PublishesAgain),
    ("only_a_revision_of_the_skill_is_published", Defect::PublishesAnyRevision),
    ("an_archived_skill_keeps_what_it_has", Defect::UnpublishesWhatIsArchived),
    ("archiving_twice_writes_nothing", Defect::ArchivesAgain),
    ("a_purge_takes_the_skill_and_frees_its_name", Defect::PurgesNoRevisions),
    ("a_purge_leaves_files_that_another_skill_shares", Defect::PurgesSharedFiles),
    ("a_purge_leaves_grants_executions_and_the_trail", Defect::PurgesGrants),
    ("a_purge_of_nothing_writes_nothing", Defect::PurgesNothing),
    ("active_are_the_scripts_own_grants_and_those_for_all", Defect::IgnoresGrantsForAll),
    ("a_grant_that_expires_now_is_expired", Defect::ExpiresLate),
    ("another_key_is_another_grant", Defect::HasOneGrantForATarget),
    ("the_same_key_renews_and_keeps_its_id", Defect::RenewsTheRevoked),
    ("replacing_revokes_the_others_of_the_same_target", Defect::ReplacesEveryTarget),
    ("grants_are_listed_newest_first", Defect::ListsGrantsAsTheyCame),
    ("a_revoked_grant_counts_no_more", Defect::CountsTheRevoked),
    ("only_active_grants_are_revoked", Defect::RevokesAgain),
    ("refusals_are_counted_and_listed_latest_first", Defect::CountsOnce),
    ("what_is_granted_is_not_pending", Defect::KeepsWaiting),
    ("each_tenant_has_a_chain_of_its_own", Defect::NumbersAllTenants),
    ("an_entry_comes_back_as_it_was_drafted", Defect::DropsTheStateBefore),
    ("the_head_is_the_last_entrys", Defect::LagsBehind),
    ("a_page_starts_after_a_number_and_ends_at_its_limit", Defect::IgnoresTheLimit),
    ("tenants_with_entries_are_named", Defect::NamesTenantsOften),
    ("one_id_makes_one_entry", Defect::TakesAnIdTwice),
    ("copied_heads_are_heads_of_the_trail", Defect::CopiesHeadsEarly),
    ("a_run_is_opened_with_its_receipt", Defect::RecordsNoReceipt),
    ("a_run_is_opened_once", Defect::OpensAgain),
    ("records_are_listed_newest_first_and_open_runs_oldest_first", Defect::ListsOldestFirst),
    ("a_cancel_request_reaches_the_owner_alone", Defect::TellsEverybody),
    ("a_run_is_asked_to_be_cancelled_once_and_while_it_is_open", Defect::AsksAgain),
    ("orphans_are_the_open_runs_of_the_dead", Defect::BuriesTheLiving),
    ("a_key_opens_one_run", Defect::ForgetsKeys),
    ("a_key_is_its_callers", Defect::SharesKeys),
    ("a_key_is_free_after_its_time", Defect::RemembersForEver),
    ("the_key_of_what_did_not_start_is_free", Defect::KeepsTheKeyOfWhatDidNotStart),
    ("of_racing_runs_under_one_key_one_is_opened", Defect::ChecksItsOwnCopy),
    ("recent_runs_are_those_that_ended_newest_first", Defect::RecallsOpenRuns),
    ("recent_runs_are_the_callers_of_one_skill", Defect::RecallsEverybodysRuns),
    ("a_closed_run_is_kept_as_it_ended", Defect::ClosesWithoutReceipt),
    ("a_run_is_closed_once", Defect::ClosesAgain),
    ("an_unknown_run_is_not_closed", Defect::ClosesNothing),
    ("a_pause_holds_for_its_tenant", Defect::PausesEverybody),
    ("a_pause_of_all_holds_for_every_tenant", Defect::PausesNobody),
    ("an_entry_of_a_skill_tells_what_was_stored", Defect::TellsNoFacts),
    ("an_entry_of_a_grant_tells_what_was_stored", Defect::TellsNoFacts),
    ("a_change_whose_entry_is_refused_is_not_made", Defect::KeepsHalf),
    ("a_change_with_another_tenants_entry_is_not_made", Defect::TakesAnyEntry),
    ("every_change_appends_its_entry", Defect::SavesInSilence),
    ("what_was_acknowledged_is_seen_by_every_handle", Defect::ForgetsPauses),
    ("a_handle_sees_what_others_changed_since", Defect::ReadsItsOwnCopy),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_store_fails_the_clause_against_its_defect() {
    let mut kept = Vec::new();
    for (name, defect) in BROKEN {
        let clause = Clause::all().iter().find(|clause| clause.name() == *name).unwrap();
        let database = Database::new(Some(*defect));
        let check = tokio::spawn(async move { clause.check(&database).await });
        if !check.await.is_err_and(|lost| lost.is_panic()) {
            kept.push((name, defect));
        }
    }
    assert!(kept.is_empty(), "a defect that its clause did not find: {kept:#?}");
}

#[test]
fn every_clause_has_a_broken_store() {
    let listed: BTreeSet<_> = BROKEN.iter().map(|(name, _)| *name).collect();
    let clauses: BTreeSet<_> = Clause::all().iter().map(Clause::name).collect();
    assert_eq!(listed, clauses);
}
