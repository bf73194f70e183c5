//! The list of clauses, and one test of each in the binary of an adapter.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::Subject;

/// Hands the names of all clauses to a macro. This list decides what exists: a clause that is not in it is
/// code that nobody reaches, which the compiler reports.
#[doc(hidden)]
#[macro_export]
macro_rules! with_clauses {
    ($callback:ident { $($argument:tt)* }) => {
        $callback! {
            { $($argument)* }
            tenants: [
                skills_of_another_tenant_are_not_read
                skills_of_another_tenant_are_not_changed
                the_same_name_is_another_skill_in_another_tenant
                grants_of_another_tenant_are_neither_read_nor_changed
                runs_of_another_tenant_are_neither_read_nor_changed
                trails_of_tenants_are_apart
            ]
            finding: [
                a_slug_is_found_in_the_order_of_owners
                an_id_is_found_whoever_owns_it
                skills_are_listed_by_slug
            ]
            searching: [
                every_text_of_a_skill_is_searched
                a_search_finds_what_its_owners_have
                the_current_revision_is_what_is_searched
                an_archived_skill_is_not_found
                the_best_match_comes_first
                of_equal_matches_the_one_that_served_last_comes_first
            ]
            saving: [
                a_first_save_makes_the_skill_and_its_first_revision
                revisions_are_numbered_and_listed_newest_first
                an_equal_manifest_uses_its_revision_again
                the_current_revision_is_the_published_one_else_the_latest
                files_come_back_byte_for_byte
                files_of_no_revision_are_an_error
                files_other_than_those_of_the_manifest_are_refused
                a_save_publishes_when_that_is_asked
            ]
            expecting: [
                a_create_conflicts_with_what_is_there
                an_update_from_a_stale_revision_conflicts
                an_update_is_compared_with_the_latest_and_not_the_published
                an_archived_skill_takes_no_revision
            ]
            racing: [
                of_racing_creates_one_wins
                of_racing_updates_one_wins
                racing_saves_leave_no_gap
                of_racing_equal_saves_one_is_new
                racing_entries_are_one_chain
                racing_grants_of_one_key_are_one
                of_racing_closes_one_counts
            ]
            publishing: [
                publishing_moves_one_pointer
                only_a_revision_of_the_skill_is_published
            ]
            archiving: [
                an_archived_skill_keeps_what_it_has
                archiving_twice_writes_nothing
            ]
            purging: [
                a_purge_takes_the_skill_and_frees_its_name
                a_purge_leaves_files_that_another_skill_shares
                a_purge_leaves_grants_executions_and_the_trail
                a_purge_of_nothing_writes_nothing
            ]
            granting: [
                active_are_the_scripts_own_grants_and_those_for_all
                a_grant_that_expires_now_is_expired
                another_key_is_another_grant
                the_same_key_renews_and_keeps_its_id
                replacing_revokes_the_others_of_the_same_target
            ]
            listing: [grants_are_listed_newest_first]
            revoking: [
                a_revoked_grant_counts_no_more
                only_active_grants_are_revoked
            ]
            pending: [
                refusals_are_counted_and_listed_latest_first
                what_is_granted_is_not_pending
            ]
            chain: [
                each_tenant_has_a_chain_of_its_own
                an_entry_comes_back_as_it_was_drafted
                the_head_is_the_last_entrys
                a_page_starts_after_a_number_and_ends_at_its_limit
                tenants_with_entries_are_named
                one_id_makes_one_entry
                copied_heads_are_heads_of_the_trail
            ]
            running: [
                a_run_is_opened_with_its_receipt
                a_run_is_opened_once
                records_are_listed_newest_first_and_open_runs_oldest_first
                a_cancel_request_reaches_the_owner_alone
                a_run_is_asked_to_be_cancelled_once_and_while_it_is_open
                orphans_are_the_open_runs_of_the_dead
            ]
            repeating: [
                a_key_opens_one_run
                a_key_is_its_callers
                a_key_is_free_after_its_time
                the_key_of_what_did_not_start_is_free
                of_racing_runs_under_one_key_one_is_opened
            ]
            recalling: [
                recent_runs_are_those_that_ended_newest_first
                recent_runs_are_the_callers_of_one_skill
            ]
            closing: [
                a_closed_run_is_kept_as_it_ended
                a_run_is_closed_once
                an_unknown_run_is_not_closed
            ]
            pausing: [
                a_pause_holds_for_its_tenant
                a_pause_of_all_holds_for_every_tenant
            ]
            appending: [
                an_entry_of_a_skill_tells_what_was_stored
                an_entry_of_a_grant_tells_what_was_stored
            ]
            together: [
                a_change_whose_entry_is_refused_is_not_made
                a_change_with_another_tenants_entry_is_not_made
                every_change_appends_its_entry
            ]
            reopening: [
                what_was_acknowledged_is_seen_by_every_handle
                a_handle_sees_what_others_changed_since
            ]
        }
    };
}

/// Makes one `#[tokio::test]` of each clause: `store_contract!(make)`, where `make` is a function that gives
/// a [`Subject`](crate::Subject) with a new, empty database. It is called in every test. The crate that uses
/// the macro depends on `tokio`, with its macros and its runtime of several threads.
#[macro_export]
macro_rules! store_contract {
    ($make:expr $(,)?) => {
        use $crate::__store_contract_tests as store_contract_tests_of_list;
        $crate::with_clauses! { store_contract_tests_of_list { $make } }
    };
}

/// Expands the list of [`with_clauses`].
#[doc(hidden)]
#[macro_export]
macro_rules! __store_contract_tests {
    ({ $make:expr } $($module:ident: [$($name:ident)*])*) => {
        $crate::__store_contract_tests! { @each $make; $($($name)*)* }
    };
    (@each $make:expr; $($name:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let subject = $make();
                $crate::clauses::$name(&subject).await;
            }
        )*
    };
}

type Check = for<'s> fn(&'s dyn Subject) -> Pin<Box<dyn Future<Output = ()> + Send + 's>>;

/// One clause, for whoever runs them without the macro.
#[derive(Clone, Copy)]
pub struct Clause {
    name: &'static str,
    check: Check,
}

impl Clause {
    /// Every clause.
    #[must_use]
    pub const fn all() -> &'static [Self] {
        ALL
    }

    /// Its name: that of its function.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Looks whether the store satisfies it. Panics when it does not.
    pub async fn check(&self, subject: &dyn Subject) {
        (self.check)(subject).await;
    }
}

impl fmt::Debug for Clause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Clause({})", self.name)
    }
}

macro_rules! table {
    ({} $($module:ident: [$($name:ident)*])*) => {
        /// The clauses as functions. Each panics when the store breaks it.
        pub mod clauses {
            $(pub use crate::$module::{$($name),*};)*
        }

        const ALL: &[Clause] = &[$($(
            Clause { name: stringify!($name), check: |subject| Box::pin(clauses::$name(subject)) },
        )*)*];
    };
}

crate::with_clauses! { table {} }
