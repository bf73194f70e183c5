//! Redaction by name, before anything is written.

use serde_json::Value;

/// What stands in for a redacted value.
const REDACTED: &str = "***";

/// Whether a property or option of this name holds a secret: its letters and digits, lower case,
/// contain `apikey`, `authorization`, `password`, `secret` or singular `token`.
fn is_secret(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    ["apikey", "authorization", "password", "secret"].iter().any(|word| plain.contains(word)) || has_token(name)
}

/// Whether a name has `token` in it, other than in the word `tokens`. The plural is looked for in the
/// name as it is written, where words end: `token_string` and `tokenString` hold one token.
fn has_token(name: &str) -> bool {
    let letters: Vec<(usize, char)> = name.char_indices().filter(|(_, c)| c.is_alphanumeric()).collect();
    let is_token = |window: &[(usize, char)]| {
        window.iter().zip("token".chars()).all(|((_, letter), wanted)| letter.to_lowercase().eq([wanted]))
    };
    letters.windows(5).filter(|window| is_token(window)).any(|window| {
        let (at, last) = window[4];
        !is_plural(last, &name[at + last.len_utf8()..])
    })
}

/// Whether what follows `token` makes it `tokens`, as a word of its own.
fn is_plural(last: char, rest: &str) -> bool {
    let mut rest = rest.chars();
    let Some(s) = rest.next().filter(|c| matches!(c, 's' | 'S')) else { return false };
    let begins_a_word = last.is_lowercase() && s.is_uppercase();
    let ends_the_word =
        rest.next().is_none_or(|next| !next.is_alphanumeric() || (s.is_lowercase() && next.is_uppercase()));
    !begins_a_word && ends_the_word
}

/// The value with every secret property replaced, whatever its type.
#[must_use]
pub fn redact_arguments(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| {
                    let kept = if is_secret(key) { Value::from(REDACTED) } else { redact_arguments(value) };
                    (key.clone(), kept)
                })
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(redact_arguments).collect()),
        other => other.clone(),
    }
}

/// Command-line arguments with the value of every secret option replaced: `--token=x` and `--token x`.
#[must_use]
pub fn redact_argv(argv: &[String]) -> Vec<String> {
    let mut hide_next = false;
    argv.iter()
        .map(|argument| {
            let is_option = argument.starts_with('-');
            // A value may begin with one dash; what begins with two is taken for the next option.
            if std::mem::take(&mut hide_next) && !argument.starts_with("--") {
                return REDACTED.to_owned();
            }
            match argument.split_once('=') {
                Some((name, _)) if is_secret(name) => format!("{name}={REDACTED}"),
                _ => {
                    hide_next = is_option && is_secret(argument);
                    argument.clone()
                }
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_decide_whatever_their_separators() {
        for name in ["apiKey", "x-api-key", "API_KEY", "Authorization", "db_password", "client-secret", "access_token"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in
            ["token_string", "access_token_s3", "tokenString", "tokenS", "TOKEN_SET", "to-ken", "tokenstring", "Token5"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["max_tokens", "maxTokens", "tokensUsed", "TOKENS", "tokens-used", "author", "key", "pass"] {
            assert!(!is_secret(name), "{name}");
        }
        assert!(is_secret("tokens_token"));
    }

    #[test]
    fn values_are_hidden_at_every_level() {
        let value = json!({"a": {"password": {"deep": 1}}, "b": [{"token": "x"}], "c": 1});
        let expected = json!({"a": {"password": "***"}, "b": [{"token": "***"}], "c": 1});
        assert_eq!(redact_arguments(&value), expected);
    }

    #[test]
    fn option_values_are_hidden() {
        let argv = ["--token", "x", "--password=y", "--secret", "--flag", "z", "password=q", "--password", "-hunter2"];
        let argv = argv.map(String::from);
        let expected =
            ["--token", "***", "--password=***", "--secret", "--flag", "z", "password=***", "--password", "***"];
        assert_eq!(redact_argv(&argv), expected);
    }
}
