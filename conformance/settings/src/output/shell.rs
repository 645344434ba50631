//! Quoting for a shell.

use std::path::Path;

/// A text as one word of a shell, in quotes only where it needs them.
pub fn word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./:@%+=,-".contains(letter);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { quoted(text) }
}

/// A text as one word of a shell, in single quotes.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The option of `replay` that names a configuration file, with a blank before it; empty where there is no file.
pub fn config_option(file: Option<&Path>) -> String {
    file.map_or(String::new(), |file| format!(" --config {}", word(&file.display().to_string())))
}
