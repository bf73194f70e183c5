//! Media types by file name: a small table, the same on every host.

use belljar_executor::LogicalPath;

/// The media type of a file.
pub(super) fn media_type(path: &LogicalPath, bytes: &[u8]) -> &'static str {
    path.extension()
        .and_then(|extension| of_extension(&extension))
        .unwrap_or_else(|| if std::str::from_utf8(bytes).is_ok() { "text/plain" } else { "application/octet-stream" })
}

fn of_extension(extension: &str) -> Option<&'static str> {
    Some(match extension {
        "md" | "markdown" => "text/markdown",
        "txt" | "conf" | "ini" | "cfg" | "log" => "text/plain",
        "csv" => "text/csv",
        "tsv" => "text/tab-separated-values",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "xml" => "application/xml",
        "json" => "application/json",
        "yaml" | "yml" => "application/yaml",
        "toml" => "application/toml",
        "py" => "text/x-python",
        "sh" | "bash" => "text/x-shellscript",
        "js" | "mjs" | "cjs" => "text/javascript",
        "ts" | "mts" | "cts" => "text/x-typescript",
        "rb" => "text/x-ruby",
        "pl" => "text/x-perl",
        "sql" => "application/sql",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "gz" => "application/gzip",
        "wasm" => "application/wasm",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "woff2" => "font/woff2",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides_and_the_content_when_it_is_unknown() {
        let of = |path: &str, bytes: &[u8]| media_type(&LogicalPath::parse(path).unwrap(), bytes);
        assert_eq!(of("SKILL.MD", b""), "text/markdown");
        assert_eq!(of("scripts/a.py", b""), "text/x-python");
        assert_eq!(of("Makefile", b"all:"), "text/plain");
        assert_eq!(of("a.bin", b"\xff"), "application/octet-stream");
    }
}
