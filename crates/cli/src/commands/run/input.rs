//! `--input`: JSON as it stands, `@FILE`, or `-` for standard input.

use std::io::Read;
use std::path::Path;

use anyhow::Result;
use belljar_core::refusal::Refusal;
use belljar_core::run::check_input_object;

/// More than any configuration lets through, so that nothing is read without end.
const MOST: u64 = 64 * 1024 * 1024;

/// Reads the input, byte for byte, and checks that it is one JSON object.
pub(super) fn read(argument: &str) -> Result<String> {
    let text = match argument.strip_prefix('@') {
        Some(path) => read_file(Path::new(path))?,
        None if argument == "-" => bounded(std::io::stdin().lock(), "standard input")?,
        None => argument.to_owned(),
    };
    check_input_object("--input", &text)?;
    Ok(text)
}

fn read_file(path: &Path) -> Result<String> {
    let shown = path.display().to_string();
    let file = std::fs::File::open(path)
        .map_err(|error| Refusal::invalid_argument("--input", format!("{shown} cannot be read: {error}")))?;
    bounded(file, &shown)
}

fn bounded(source: impl Read, name: &str) -> Result<String> {
    let mut text = String::new();
    let read = source.take(MOST + 1).read_to_string(&mut text);
    let length =
        read.map_err(|error| Refusal::invalid_argument("--input", format!("{name} cannot be read: {error}")))?;
    if length as u64 > MOST {
        return Err(Refusal::invalid_argument("--input", format!("{name} is larger than {MOST} bytes")).into());
    }
    Ok(text)
}
