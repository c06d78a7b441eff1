//! Text that people write, made legible. Markup stays as it was written: whoever shows a text inserts it as text, or
//! escapes it.

use super::Mistake;

/// One line: for names and titles. Control characters go, white space at the ends and around line ends too.
#[must_use]
pub fn line(text: &str) -> String {
    lines(text).split('\n').map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Several lines: for notes, rules and introductions. As [`line`], with line ends kept as `\n`.
#[must_use]
pub fn lines(text: &str) -> String {
    let bare = text.replace("\r\n", "\n").replace(['\r', '\t'], " ");
    let kept: String =
        bare.chars().filter(|c| *c == '\n' || !(c.is_control() || turns_text_around(*c))).collect();
    kept.trim().to_owned()
}

/// A text of at most so many characters.
///
/// # Errors
/// [`Mistake::OutOfRange`] with the field's name.
pub fn within(name: &'static str, text: String, most: usize) -> Result<String, Mistake> {
    if text.chars().count() <= most { Ok(text) } else { Err(Mistake::OutOfRange(name)) }
}

/// Directional overrides: with them a name can be shown as another one.
fn turns_text_around(c: char) -> bool {
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
