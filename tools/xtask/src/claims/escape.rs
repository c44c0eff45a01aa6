//! Texts in a page of Markdown.

/// A text inside a table, as it is.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '|' | '*' | '_' | '`' | '[' => escaped.extend(['\\', letter]),
            '<' => escaped += "&lt;",
            '\n' => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}
