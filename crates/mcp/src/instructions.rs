//! What a model is told about the tools as a whole.

/// The order in which the tools make sense, and what to do when one refuses.
pub(crate) const INSTRUCTIONS: &str = "\
Skills are folders with instructions, references and scripts, kept in immutable revisions. Their scripts run in a sealed, \
single-use sandbox without network, only when a person approved exactly these bytes, and every run is recorded.

Work in this order:
1. Recall. `recall_context` with the task in words gives the best skills in bounded tokens; `recall_cloud_skill` with `query` \
lists skills, with `slug` or `skill_id` gives one skill's instructions, files and scripts, with `resource` and `revision_id` one \
file.
2. Pin. Take `revision_id` from what you recalled and pass it on, so that what runs is what you read.
3. Execute. `execute_cloud_skill` with `slug`, `revision_id`, `script_path` and `input_args`. Only scripts that recall shows as \
`runnable` will run.

A result of the kind `error` has a stable `code`. `SCRIPT_DENIED` with the reason `grant_missing` or `content_changed` needs a \
person: tell the user which skill and script wait, and that `belljar grant add --pending ID` approves exactly them (ID is \
`pending_id` of the details); do not try again before that. `retryable: true` may be tried again later. A result of the kind `execution` ran: read `status`, `exit_code`, `stdout` and \
`stderr`. Long streams are cut in the answer; the resource link has the whole.

To keep a procedure, `save_cloud_skill` makes a new skill. To change one, pass `expected_revision_id` (its latest revision, as \
recall tells); files that you leave out stay.";
