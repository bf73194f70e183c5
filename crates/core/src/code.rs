//! The stable codes: one table of what is refused or failed, one of why a script was denied.

use std::fmt;

use serde::Serialize;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $status:literal, $retryable:literal;)*) => {
        /// A stable code. Its name, HTTP status and whether trying again can help never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum Code { $($(#[$doc])* #[serde(rename = $name)] $variant,)* }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The HTTP status; 200 for the ways in which a script that ran can fail.
            #[must_use]
            pub const fn http_status(self) -> u16 {
                match self { $(Self::$variant => $status),* }
            }

            /// Whether the same call may succeed later.
            #[must_use]
            pub const fn is_retryable(self) -> bool {
                match self { $(Self::$variant => $retryable),* }
            }
        }
    };
}

codes! {
    /// The caller may not, or the skill is outside its scope.
    AccessDenied = "ACCESS_DENIED", 403, false;
    /// No skill has this slug in the caller's scope.
    SkillNotFound = "SKILL_NOT_FOUND", 404, false;
    /// The skill is archived.
    SkillArchived = "SKILL_ARCHIVED", 409, false;
    /// The revision does not belong to the skill, or the skill has none.
    RevisionNotFound = "REVISION_NOT_FOUND", 404, false;
    /// The revision has no such component.
    ScriptNotFound = "SCRIPT_NOT_FOUND", 404, false;
    /// The component is not a script.
    InvalidComponentType = "INVALID_COMPONENT_TYPE", 400, false;
    /// The configured isolation cannot be had on this host.
    SandboxUnavailable = "SANDBOX_UNAVAILABLE", 503, true;
    /// The deadline ended the script.
    ExecutionTimeout = "EXECUTION_TIMEOUT", 200, false;
    /// A resource limit ended the script.
    ResourceExhausted = "RESOURCE_EXHAUSTED", 200, false;
    /// The script ended with another exit code than 0.
    ScriptExecutionError = "SCRIPT_EXECUTION_ERROR", 200, false;
    /// The executor failed.
    ExecutorFault = "EXECUTOR_FAULT", 200, false;
    /// An argument is wrong.
    InvalidArgument = "INVALID_ARGUMENT", 400, false;
    /// A gate is closed.
    ScriptDenied = "SCRIPT_DENIED", 403, false;
    /// No execution or grant has this id.
    NotFound = "NOT_FOUND", 404, false;
    /// Something changed in between, or exists already.
    Conflict = "CONFLICT", 409, false;
    /// More bytes than are accepted.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE", 413, false;
    /// No slot became free in time.
    CapacityExceeded = "CAPACITY_EXCEEDED", 429, true;
    /// The audit entry could not be written, so nothing was started.
    AuditUnavailable = "AUDIT_UNAVAILABLE", 503, true;
    /// The store cannot be read or written.
    StoreUnavailable = "STORE_UNAVAILABLE", 503, true;
    /// The caller cancelled.
    Cancelled = "CANCELLED", 409, false;
    /// A fault of ours; the log tells.
    Internal = "INTERNAL", 500, false;
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

macro_rules! reasons {
    ($($variant:ident = $name:literal, $sentence:literal;)*) => {
        /// Why a script was denied. The sentence is fixed: no word of it comes from a model or a script.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum Reason { $(#[doc = $sentence] #[serde(rename = $name)] $variant,)* }

        impl Reason {
            /// All reasons, in the order of the gates.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The stable name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The sentence for the caller.
            #[must_use]
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence),* }
            }
        }
    };
}

reasons! {
    FeatureDisabled = "feature_disabled", "Script execution is off.";
    ExecutionPaused = "execution_paused", "Script execution is paused.";
    StoredScriptsDisabled = "stored_scripts_disabled", "Stored scripts are off.";
    GrantMissing = "grant_missing", "No active grant covers this script.";
    GrantUnpinned = "grant_unpinned", "The grants for this script carry no pin; grant it again with one.";
    ContentChanged = "content_changed", "What would run is not what was granted.";
    InterpreterNotAllowed = "interpreter_not_allowed", "The script's language is not on the allow-list.";
    ArgumentsTooLarge = "arguments_too_large", "The arguments are larger than allowed.";
    ArgumentsInvalid = "arguments_invalid", "The arguments are not valid JSON or do not satisfy the script's schema.";
    ScriptNameInvalid = "script_name_invalid", "The script's name is not a plain file name.";
    ScriptTooLarge = "script_too_large", "The script is larger than allowed.";
    SandboxUnavailable = "sandbox_unavailable", "The configured isolation cannot be had on this host.";
}

impl Reason {
    /// Whether a grant would open this gate.
    #[must_use]
    pub const fn wants_a_grant(self) -> bool {
        matches!(self, Self::GrantMissing | Self::GrantUnpinned | Self::ContentChanged)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
