//! How large a skill may be.

/// Limits at save time. The depth of paths is part of [`LogicalPath`](belljar_executor::LogicalPath).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveLimits {
    /// Files of a skill.
    pub max_files: usize,
    /// All files together, bytes.
    pub max_total_bytes: usize,
    /// One text file, bytes.
    pub max_text_bytes: usize,
    /// One script, bytes.
    pub max_script_bytes: usize,
}

impl Default for SaveLimits {
    fn default() -> Self {
        const KIB: usize = 1024;
        const MIB: usize = 1024 * KIB;
        Self { max_files: 512, max_total_bytes: 16 * MIB, max_text_bytes: MIB, max_script_bytes: 256 * KIB }
    }
}

/// A size in the largest unit that shows it exactly.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        _ if bytes > 0 && bytes.is_multiple_of(1024 * 1024) => format!("{} MiB", bytes / (1024 * 1024)),
        _ if bytes > 0 && bytes.is_multiple_of(1024) => format!("{} KiB", bytes / 1024),
        _ => format!("{bytes} bytes"),
    }
}
