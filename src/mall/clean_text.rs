//! Text that people write, made safe to show: hm-dianping's pages insert some of it as HTML.

use super::Mistake;

/// One line without markup: for names and titles.
///
/// Tags and control characters go, white space at the ends and around line ends too. The answer has no `<`,
/// whatever came in: one that begins no complete tag becomes the full-width `＜`, which no browser takes for markup.
#[must_use]
pub fn line(text: &str) -> String {
    lines(text).split('\n').map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Several lines without markup: for rules and introductions. As [`line`], with line ends kept as `\n`.
#[must_use]
pub fn lines(text: &str) -> String {
    legible(&without_tags(text, |_| ""))
}

/// Without control characters and what else nobody sees.
fn legible(text: &str) -> String {
    let bare = text.replace("\r\n", "\n").replace(['\r', '\t'], " ");
    let kept: String =
        bare.chars().filter(|c| *c == '\n' || !(c.is_control() || turns_text_around(*c))).collect();
    kept.trim().to_owned()
}

/// Paragraphs, as the pages show notes: of markup `<p>`, `</p>` and `<br/>` stay, without attributes. Otherwise as
/// [`lines`].
#[must_use]
pub fn paragraphs(text: &str) -> String {
    legible(&without_tags(text, |tag| {
        let name = tag.trim_matches(['<', '>', '/']).split_ascii_whitespace().next().unwrap_or_default();
        let name = name.trim_end_matches('/');
        match (name, tag.starts_with("</")) {
            (name, false) if name.eq_ignore_ascii_case("p") => "<p>",
            (name, true) if name.eq_ignore_ascii_case("p") => "</p>",
            (name, _) if name.eq_ignore_ascii_case("br") => "<br/>",
            _ => "",
        }
    }))
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

/// Puts what `stays` of it in the place of each tag: everything from a `<` that begins a tag to the next `>`, and of comments whole.
///
/// A `>` inside a quoted attribute ends the tag early; what is left over then shows as text, but cannot act, as no
/// `<` is left anywhere. That is why one pass is enough: `<<b>script>` becomes `＜script>`.
fn without_tags(text: &str, stays: impl Fn(&str) -> &'static str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        bare.push_str(&rest[..at]);
        let from = &rest[at..];
        match tag_length(from) {
            Some(length) => {
                bare.push_str(stays(&from[..length]));
                rest = &from[length..];
            }
            None => {
                bare.push('＜');
                rest = &from[1..];
            }
        }
    }
    bare.push_str(rest);
    bare
}

/// The length of the tag or comment that `text`, which begins with `<`, begins with.
fn tag_length(text: &str) -> Option<usize> {
    /// Longer ones count as none: it keeps a text of nothing but `<a<a<a` from taking quadratic time.
    const LONGEST: usize = 1024;
    let near = &text.as_bytes()[..text.len().min(LONGEST)];
    if near.starts_with(b"<!--")
        && let Some(end) = near.windows(3).position(|three| three == b"-->")
    {
        return Some(end + "-->".len());
    }
    let begins_tag = near.get(1).is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, b'/' | b'!' | b'?'));
    let end = if begins_tag { near.iter().position(|byte| *byte == b'>') } else { None };
    end.map(|end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_go_and_their_text_stays() {
        assert_eq!(line("<b>100</b>元<br/>代金券"), "100元代金券");
        assert_eq!(line("a<!-- hidden > -->b"), "ab");
        assert_eq!(line("<script>alert(1)</script>"), "alert(1)");
        assert_eq!(line("<IMG SRC=x onerror='alert(1)'>x</ p>"), "x");
    }

    #[test]
    fn nothing_that_comes_out_has_a_bracket_that_opens() {
        for nasty in [
            "<<b>script>alert(1)<<b>/script>",
            "<img src=x onerror=alert(1)",
            "<a title=\"x>y\" onclick=z>",
            "<!-- never closed",
            "<!-->-->",
            "a < b",
            "<3",
            "<",
            "<\u{0}script>",
            "<s\u{0}cript>",
            "<scr\nipt>",
        ] {
            assert!(!line(nasty).contains('<'), "{nasty}");
            assert!(!lines(nasty).contains('<'), "{nasty}");
        }
        assert_eq!(line("a < b, I <3 you"), "a ＜ b, I ＜3 you");
    }

    #[test]
    fn of_a_notes_markup_breaks_and_paragraphs_stay() {
        assert_eq!(paragraphs("<p>one<br>two<BR />three</P>"), "<p>one<br/>two<br/>three</p>");
        assert_eq!(paragraphs("one<br/>\r\n<b>two</b><!-- <p> -->"), "one<br/>\ntwo");
        assert_eq!(paragraphs("<p onclick=\"a()\" class='x'>a</p >b</br>"), "<p>a</p>b<br/>");
        for nasty in [
            "<img src=x onerror=alert(1)>",
            "<pre>",
            "<<p>script>alert(1)<<br>/script>",
            "<br\u{0}onload=x>",
            "<p",
            "<p<script>",
            "<svg/onload=alert(1)>",
        ] {
            let clean = paragraphs(nasty);
            let bare = clean.replace("<p>", "").replace("</p>", "").replace("<br/>", "");
            assert!(!bare.contains('<'), "{nasty}: {clean}");
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

    #[test]
    fn a_long_text_of_open_brackets_takes_no_long_time() {
        let text = "<a".repeat(100_000);
        assert_eq!(line(&text).chars().count(), 200_000);
        let comments = "<!--".repeat(50_000);
        assert!(!line(&comments).contains('<'));
    }
}
