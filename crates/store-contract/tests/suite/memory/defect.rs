//! The ways in which a store can be broken.

/// A defect, named after what the store does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// Finds and lists skills whatever their tenant.
    ReadsSkillsOfAllTenants,
    /// Publishes, archives and purges skills whatever their tenant.
    ChangesSkillsOfAllTenants,
    /// Takes another tenant's skill for the one that is saved.
    HasOneNameForAllTenants,
    /// Finds, lists and revokes grants whatever their tenant.
    SharesGrants,
    /// Finds, lists and closes runs whatever their tenant.
    SharesRuns,
    /// Shows the entries of all tenants.
    ShowsOneTrail,
    /// Finds the oldest skill of a name, whatever the order of the owners.
    FindsTheOldest,
    /// Finds only personal skills by id.
    FindsPersonalSkills,
    /// Lists skills by id.
    ListsSkillsById,
    /// Leaves out who saved.
    ForgetsWhoSaved,
    /// Leaves the description of the first revision.
    KeepsTheFirstDescription,
    /// Looks for an equal manifest in the latest revision alone.
    ComparesManifestsWithTheLatest,
    /// Runs the latest revision even when another is published.
    RunsTheLatest,
    /// Keeps files as text.
    KeepsFilesAsText,
    /// Gives an empty tree for a revision that is not there.
    GivesAnEmptyTree,
    /// Does not compare the files with the manifest.
    TrustsTheManifest,
    /// Publishes on saving only what is new.
    PublishesOnlyWhatIsNew,
    /// Takes a create for an update.
    CreatesWhatIsThere,
    /// Does not look from which revision an update was made.
    UpdatesFromAnyRevision,
    /// Compares an update with the published revision.
    UpdatesFromThePublished,
    /// Saves into an archived skill.
    SavesIntoTheArchive,
    /// Checks a change against what this process has written itself.
    ChecksItsOwnCopy,
    /// Numbers the saves of this process.
    NumbersItsOwnSaves,
    /// Chains the entries of this process.
    ChainsItsOwnEntries,
    /// Takes publishing again for a change.
    PublishesAgain,
    /// Points to whatever revision is named.
    PublishesAnyRevision,
    /// Unpublishes what is archived.
    UnpublishesWhatIsArchived,
    /// Takes archiving again for a change.
    ArchivesAgain,
    /// Takes the skill and leaves its revisions.
    PurgesNoRevisions,
    /// Takes files that other revisions have.
    PurgesSharedFiles,
    /// Takes the grants, too.
    PurgesGrants,
    /// Appends an entry for a purge of nothing.
    PurgesNothing,
    /// Does not know `*`.
    IgnoresGrantsForAll,
    /// Lets a grant count at the moment it expires.
    ExpiresLate,
    /// Leaves the pin out of the key.
    HasOneGrantForATarget,
    /// Leaves the revocation of a renewed grant.
    RenewsTheRevoked,
    /// Replaces the grants of every target.
    ReplacesEveryTarget,
    /// Lists grants in the order they came.
    ListsGrantsAsTheyCame,
    /// Lets revoked grants count.
    CountsTheRevoked,
    /// Stamps grants that are revoked or expired.
    RevokesAgain,
    /// Counts no refusal.
    CountsOnce,
    /// Keeps what was granted among what waits.
    KeepsWaiting,
    /// Numbers the entries of all tenants together.
    NumbersAllTenants,
    /// Leaves out the state before.
    DropsTheStateBefore,
    /// Answers the entry before the last as head.
    LagsBehind,
    /// Gives all entries after a number.
    IgnoresTheLimit,
    /// Names a tenant for each entry.
    NamesTenantsOften,
    /// Takes an entry's id twice.
    TakesAnIdTwice,
    /// Copies heads before it knows whether they are on the trail.
    CopiesHeadsEarly,
    /// Records a run without its receipt.
    RecordsNoReceipt,
    /// Opens a run that is there.
    OpensAgain,
    /// Lists runs oldest first.
    ListsOldestFirst,
    /// Tells every process of all cancel requests.
    TellsEverybody,
    /// Takes a second request for a change.
    AsksAgain,
    /// Takes every other process for dead.
    BuriesTheLiving,
    /// Opens every run, whatever its key.
    ForgetsKeys,
    /// Takes keys for everybody's.
    SharesKeys,
    /// Never frees a key.
    RemembersForEver,
    /// Does not free the key of a run that did not start.
    KeepsTheKeyOfWhatDidNotStart,
    /// Gives runs that have not ended among the recent ones.
    RecallsOpenRuns,
    /// Gives other callers' runs among the recent ones.
    RecallsEverybodysRuns,
    /// Searches the names alone.
    SearchesNamesAlone,
    /// Finds skills whoever owns them.
    SearchesForEveryOwner,
    /// Searches the latest revision even when another is published.
    SearchesTheLatest,
    /// Finds archived skills.
    FindsTheArchived,
    /// Does not look how well a skill matches.
    RanksByUseAlone,
    /// Does not look how a skill served.
    IgnoresUse,
    /// Loses the receipt of a run that is closed.
    ClosesWithoutReceipt,
    /// Closes what is closed.
    ClosesAgain,
    /// Answers that it closed a run that was never there.
    ClosesNothing,
    /// Pauses everybody.
    PausesEverybody,
    /// Pauses nobody when all are to be paused.
    PausesNobody,
    /// Adds no facts to an entry.
    TellsNoFacts,
    /// Keeps a change whose entry was refused.
    KeepsHalf,
    /// Appends to the chain that the entry names.
    TakesAnyEntry,
    /// Saves a revision without an entry.
    SavesInSilence,
    /// Forgets the pauses when a process ends.
    ForgetsPauses,
    /// Reads what this process has written itself.
    ReadsItsOwnCopy,
}
