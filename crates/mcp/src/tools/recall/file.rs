//! One file of a skill, or a range of it.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use belljar_core::refusal::Refusal;
use belljar_core::service::RecalledFile;
use belljar_core::skill::ComponentId;
use serde_json::{Value, json};

/// What stands between a file and the range of it that is wanted.
const RANGE: &str = "#bytes=";

/// A file by path or component id, and the bytes of it that are wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    component: String,
    first: usize,
    /// The last byte; none for as many as one answer holds.
    last: Option<usize>,
}

impl Wanted {
    /// Parses `PATH`, `PATH#bytes=FIRST-LAST` or `PATH#bytes=FIRST-`; positions count from 0, and the last is included.
    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        let Some((component, range)) = text.rsplit_once(RANGE) else {
            return Ok(Self { component: text.to_owned(), first: 0, last: None });
        };
        let wrong = || Refusal::invalid_argument("resource", "expected a range such as #bytes=16384-32767");
        let (first, last) = range.split_once('-').ok_or_else(wrong)?;
        let position = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<usize>().ok().filter(|_| is_number).ok_or_else(wrong)
        };
        let first = position(first)?;
        let last = if last.is_empty() { None } else { Some(position(last)?) };
        if last.is_some_and(|last| last < first) {
            return Err(wrong());
        }
        Ok(Self { component: component.to_owned(), first, last })
    }

    pub(super) fn component(&self) -> &str {
        &self.component
    }

    /// The bytes of a file of this length that one answer holds.
    fn range(&self, length: usize, most: usize) -> Result<Range<usize>, Refusal> {
        if self.first > 0 && self.first >= length {
            let message = format!("begins at byte {}, and the file has {length}", self.first);
            return Err(Refusal::invalid_argument("resource", message));
        }
        let wanted = self.last.map_or(length, |last| last.saturating_add(1));
        Ok(self.first..wanted.min(length).min(self.first.saturating_add(most)))
    }
}

/// The data of the envelope.
pub(super) fn shape(file: &RecalledFile, wanted: &Wanted, most: usize) -> Result<Value, Refusal> {
    let bytes = &file.bytes;
    let mut range = wanted.range(bytes.len(), most)?;
    let text = std::str::from_utf8(bytes).ok();
    if let Some(text) = text {
        if !text.is_char_boundary(range.start) {
            return Err(Refusal::invalid_argument("resource", "begins inside a character of the text"));
        }
        let end = text.floor_char_boundary(range.end);
        // A range that is shorter than its first character gets that character.
        range.end = if end > range.start { end } else { text.ceil_char_boundary(range.end) };
    }
    let mut data = json!({
        "slug": file.slug,
        "revision_id": file.revision_id,
        "component_id": ComponentId::of(&file.path),
        "path": file.path,
        "type": file.entry.component_type,
        "media_type": file.entry.media_type,
        "sha256": file.entry.sha256,
        "size": file.entry.size,
        "first_byte": range.start,
        "bytes": range.len(),
    });
    match text {
        Some(text) => data["text"] = json!(&text[range.clone()]),
        None => data["base64"] = STANDARD.encode(&bytes[range.clone()]).into(),
    }
    if range.end < bytes.len() {
        data["next_resource"] = format!("{}{RANGE}{}-", file.path, range.end).into();
    }
    if let Value::Object(data) = &mut data {
        data.retain(|_, value| !value.is_null());
    }
    Ok(data)
}
