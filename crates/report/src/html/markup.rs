//! Texts as HTML.

/// Returns lines as they are, or nothing if there are none.
pub(super) fn preformatted(lines: &str) -> String {
    match lines.trim() {
        "" => String::new(),
        lines => format!("<pre>{}</pre>\n", escape(lines)),
    }
}

/// Returns lines with breaks between them.
pub(super) fn broken(lines: &[String]) -> String {
    lines.iter().map(|line| escape(line)).collect::<Vec<_>>().join("<br>")
}

/// Returns data for the script. Nothing in it can end the element, since `<` is escaped.
pub(super) fn data(id: &str, json: &str) -> String {
    let json = json.replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"{id}\">\n{json}</script>\n")
}

/// Returns `text` as the content of an element or of an attribute in double quotes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Not allowed in HTML.
            '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}
