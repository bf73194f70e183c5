//! An index file with its repaired entry, in the published format.

use std::collections::BTreeMap;
use std::fmt::Write;

use belljar_executor::SkillName;

use super::FrontMatter;

impl FrontMatter {
    /// An entry with only what it must have.
    #[must_use]
    pub const fn new(name: SkillName, description: String) -> Self {
        Self { name, description, license: None, compatibility: None, allowed_tools: None, metadata: BTreeMap::new() }
    }

    /// The entry as front matter of the published format, with both `---` lines.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let Self { name, description, license, compatibility, allowed_tools, metadata } = self;
        let mut text = format!("---\nname: {name}\ndescription: {}\n", quoted(description));
        let optional = [("license", license), ("compatibility", compatibility), ("allowed-tools", allowed_tools)];
        for (key, value) in optional {
            if let Some(value) = value {
                line(&mut text, format_args!("{key}: {}", quoted(value)));
            }
        }
        if !metadata.is_empty() {
            line(&mut text, format_args!("metadata:"));
            for (key, value) in metadata {
                line(&mut text, format_args!("  {}: {}", quoted(key), quoted(value)));
            }
        }
        text.push_str("---\n");
        text
    }

    /// An index file that says this and keeps everything below the front matter, byte for byte.
    #[must_use]
    pub fn replace_in(&self, index: &[u8]) -> Vec<u8> {
        let mut repaired = self.to_yaml().into_bytes();
        repaired.extend_from_slice(below(index));
        repaired
    }
}

/// A string of JSON is one of YAML. Some readers end the front matter at the first `---`, wherever it stands.
fn quoted(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    if quoted.contains("---") { quoted.replace("--", "-\\x2D") } else { quoted }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{line}");
}

/// What stands after the second `---` line; everything where there is none.
pub(super) fn below(index: &[u8]) -> &[u8] {
    let mut rest = index;
    for marks in [1, 2] {
        loop {
            let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
            let (first, after) = rest.split_at(end);
            if first.is_empty() {
                return index;
            }
            rest = after;
            if first.trim_ascii_end().strip_prefix("\u{feff}".as_bytes()).unwrap_or(first.trim_ascii_end()) == b"---" {
                break;
            }
            if marks == 1 {
                return index;
            }
        }
    }
    rest
}
