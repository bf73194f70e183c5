//! What people and programs read: human text, tables and JSON. A closed pipe is not an error.

use std::io::{IsTerminal, Write, stderr, stdout};

use belljar_core::refusal::Refusal;
use belljar_core::visible;
use serde_json::Value;

/// One JSON document on standard output.
pub(crate) fn json(value: &Value) {
    line(&value.to_string());
}

/// One line on standard output.
pub(crate) fn line(text: &str) {
    drop(writeln!(stdout().lock(), "{text}"));
}

/// Text on standard output as it is.
pub(crate) fn text(text: &str) {
    let mut out = stdout().lock();
    drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// Text on standard error as it is.
pub(crate) fn error_text(text: &str) {
    drop(stderr().lock().write_all(text.as_bytes()));
}

/// One line on standard error.
pub(crate) fn note(text: &str) {
    drop(writeln!(stderr().lock(), "{text}"));
}

/// Whether a person reads standard error.
pub(crate) fn is_watched() -> bool {
    stderr().is_terminal()
}

/// A refusal on standard error: the sentence, the code, the reason, and what can be done.
pub(crate) fn refusal(refusal: &Refusal) {
    let reason = refusal.reason().map_or_else(String::new, |reason| format!(", {reason}"));
    note(&format!("belljar: {} ({}{reason})", safe_lines(refusal.message()), refusal.code()));
    let list = |key: &str, label: &str| {
        let items = refusal.details().get(key).and_then(Value::as_array);
        let items: Vec<_> = items.into_iter().flatten().filter_map(Value::as_str).map(safe).collect();
        if !items.is_empty() {
            note(&format!("         {label}: {}", items.join(", ")));
        }
    };
    list("candidates", "there are");
    list("changed_files", "changed since it was granted");
}

/// Text that a skill or a caller wrote, with what a terminal would obey as visible escapes.
pub(crate) fn safe(text: &str) -> String {
    visible(text)
}

/// The same for a text of several lines, which stay lines.
pub(crate) fn safe_lines(text: &str) -> String {
    text.trim_end().split('\n').map(safe).collect::<Vec<_>>().join("\n")
}

/// A word for a POSIX shell.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// A size with the unit a person would choose.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (unit, factor) in UNITS {
        if bytes >= factor {
            let tenths = bytes * 10 / factor;
            return match tenths % 10 {
                0 => format!("{} {unit}", tenths / 10),
                rest => format!("{}.{rest} {unit}", tenths / 10),
            };
        }
    }
    format!("{bytes} bytes")
}

/// A number of things, in words: `1 run`, `2 runs`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// A table with two spaces between its columns; the last column is not padded. Every cell is made safe.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<_>> = rows.iter().map(|row| row.iter().map(|cell| safe(cell)).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let mut written = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let padding = width - cell.chars().count();
            written.push_str(cell);
            written.extend(std::iter::repeat_n(' ', padding + 2));
        }
        text.push_str(written.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        assert_eq!(
            [12, 1024, 1536, 512 << 20, 3 << 30].map(size),
            ["12 bytes", "1 KiB", "1.5 KiB", "512 MiB", "3 GiB"]
        );
    }

    #[test]
    fn a_cell_cannot_leave_its_place() {
        let rows = [["a\u{1b}[2J\n", "b"].map(String::from).to_vec()];
        assert_eq!(table(&rows), "a\\u{1b}[2J\\n  b\n");
        assert_eq!(safe_lines("a\r\nb\u{7}\n"), "a\\r\nb\\u{7}");
    }
}
