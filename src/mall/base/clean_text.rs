//! Normalisation of user-written text. Markup is kept verbatim: every page must insert text as text, or
//! escape it.

use super::InputError;

/// Normalises text to a single line, for names and titles. Removes control characters, and white space at
/// both ends and around line breaks.
#[must_use]
pub fn line(text: &str) -> String {
    lines(text).split('\n').map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Normalises text of several lines, for notes, rules and introductions. Like [`line()`], but keeps line
/// breaks, as `\n`.
#[must_use]
pub fn lines(text: &str) -> String {
    let bare = text.replace("\r\n", "\n").replace(['\r', '\t'], " ");
    let kept: String =
        bare.chars().filter(|c| *c == '\n' || !(c.is_control() || is_directional_control(*c))).collect();
    kept.trim().to_owned()
}

/// Returns `text` if it has at most `most` characters.
///
/// # Errors
/// [`InputError::OutOfRange`] with the field's name.
pub fn within(name: &'static str, text: String, most: usize) -> Result<String, InputError> {
    if text.chars().count() <= most { Ok(text) } else { Err(InputError::OutOfRange(name)) }
}

/// Directional overrides and isolates can make one name look like another.
fn is_directional_control(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_as_it_was_written() {
        for text in ["a < b, I <3 you", "<b>100</b>元<br/>", "AT&T &amp; <script>alert(1)</script>", "＜"] {
            assert_eq!(line(text), text);
            assert_eq!(lines(text), text);
        }
    }

    #[test]
    fn line_ends_stay_only_where_lines_are_meant() {
        assert_eq!(line("  one \r\n two\tthree\u{7}\n"), "one two three");
        assert_eq!(lines(" 全场通用\r\n无需预约\n"), "全场通用\n无需预约");
    }

    #[test]
    fn a_name_cannot_be_turned_around() {
        assert_eq!(line("abc\u{202E}fdp"), "abcfdp");
        assert_eq!(line("👩\u{200D}🍳 Café"), "👩\u{200D}🍳 Café");
    }
}
