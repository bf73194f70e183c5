//! Notation that is YAML, and that readers of the format refuse all the same.

use serde_saphyr::granit_parser::{Event, Parser, StructureStyle};

/// What of this front matter a strict reader would refuse, each with its line in the block, from 1. The block was read
/// within its budget before.
pub(super) fn beyond_the_format(block: &str) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    if block.starts_with('\u{feff}') {
        found.push((1, "starts with a byte-order mark"));
    }
    for (event, span) in Parser::new_from_str(block).map_while(Result::ok) {
        let (anchor, tag, style) = match event {
            Event::Scalar(_, _, anchor, tag) => (anchor, tag, StructureStyle::Block),
            Event::SequenceStart(style, anchor, tag) | Event::MappingStart(style, anchor, tag) => (anchor, tag, style),
            _ => continue,
        };
        let line = span.start.line();
        if style == StructureStyle::Flow {
            found.push((line, "is written in braces or brackets; write it line by line"));
        }
        if anchor != 0 {
            found.push((line, "has an anchor (`&`)"));
        }
        if tag.is_some() {
            found.push((line, "has a tag (`!`)"));
        }
    }
    found
}
