//! The audit trail: append-only, per tenant a chain of hashes.

mod entry;
mod redaction;
mod verify;

pub use entry::{Action, AuditDraft, AuditEntry, Head, Receipt, canonical_json};
pub use redaction::{redact_arguments, redact_argv};
pub use verify::{Fault, FaultKind, Verification, Verifier};
