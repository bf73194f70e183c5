//! Ids of what is stored. Opaque text to everybody but the [`Ids`](crate::ports::Ids) port.

use std::fmt;

use belljar_executor::SkillName;
use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Box<str>);

        impl $name {
            /// The id with this text.
            #[must_use]
            pub fn new(text: &str) -> Self {
                Self(text.into())
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A skill, for its whole life.
    SkillId
);
/// What stands before the name of a registered skill in its grants' key. No stored id has a colon.
const REGISTERED: &str = "registered:";
/// What stands before the name of a file skill in its grants' key.
const FOLDER: &str = "file:";

impl SkillId {
    /// The key of the grants of a registered skill, which has no id.
    pub(crate) fn of_registered(slug: &SkillName) -> Self {
        Self::new(&format!("{REGISTERED}{slug}"))
    }

    /// The key of the grants of a file skill, which has no id.
    pub(crate) fn of_folder(slug: &SkillName) -> Self {
        Self::new(&format!("{FOLDER}{slug}"))
    }

    /// The name in such a key.
    pub(crate) fn unstored_slug(&self) -> Option<&str> {
        self.as_str().strip_prefix(REGISTERED).or_else(|| self.as_str().strip_prefix(FOLDER))
    }
}

id!(
    /// One immutable snapshot of a skill.
    RevisionId
);
id!(
    /// One grant.
    GrantId
);
id!(
    /// What waits for a grant.
    PendingId
);
id!(
    /// One audit entry.
    AuditId
);
id!(
    /// One process that starts runs; dead once the lock on its owner file is free.
    OwnerId
);
