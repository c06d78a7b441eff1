//! The content of a note, escaped for pages that insert the content as HTML.
//!
//! Notes are stored as written. mallbox's own pages insert all text as text; the pages of hm-dianping insert
//! a note's content, and no other text, as HTML.
//!
//! Reasons and figures: `src/decisions/0017-text-and-remote-pictures.md`.

use super::caller::Caller;

/// Longer tags count as text: otherwise a text of `<p<p<p` would take quadratic time.
const TAG_MAX_BYTES: usize = 1024;

/// Returns the content for the current caller: as written for own pages, escaped for any other client.
pub(in crate::http) fn for_caller(content: String) -> String {
    if Caller::is_own_page() { content } else { escaped(&content) }
}

/// Escapes a text to HTML. The tags `br` and `p` stay, without attributes.
pub(in crate::http) fn escaped(content: &str) -> String {
    let mut html = String::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = rest.find(['<', '>', '&']) {
        html.push_str(&rest[..at]);
        rest = &rest[at..];
        let (written, length) = match rest.as_bytes().first() {
            Some(b'<') => kept_tag(rest).unwrap_or(("&lt;", 1)),
            Some(b'>') => ("&gt;", 1),
            _ => ("&amp;", 1),
        };
        html.push_str(written);
        rest = &rest[length..];
    }
    html.push_str(rest);
    html
}

/// Returns the allowed tag at the start of `text` in plain form, with the length of the tag in `text`.
fn kept_tag(text: &str) -> Option<(&'static str, usize)> {
    let near = &text.as_bytes()[..text.len().min(TAG_MAX_BYTES)];
    let end = near.iter().position(|byte| *byte == b'>')?;
    let inside = std::str::from_utf8(near.get(1..end)?).ok()?;
    let (is_closing, inside) = match inside.strip_prefix('/') {
        Some(rest) => (true, rest),
        None => (false, inside),
    };
    let name = inside.split(|c: char| c.is_ascii_whitespace() || c == '/').next().unwrap_or_default();
    let plain = match (name, is_closing) {
        (name, _) if name.eq_ignore_ascii_case("br") => "<br/>",
        (name, false) if name.eq_ignore_ascii_case("p") => "<p>",
        (name, true) if name.eq_ignore_ascii_case("p") => "</p>",
        _ => return None,
    };
    Some((plain, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_and_paragraphs_stay_and_the_rest_shows_as_it_was_written() {
        for (written, html) in [
            ("a < b && c > d, I <3 you", "a &lt; b &amp;&amp; c &gt; d, I &lt;3 you"),
            ("<p>one<br>two<BR />three</P>", "<p>one<br/>two<br/>three</p>"),
            ("<p class='x' onclick=\"a()\">a</p >b</br>", "<p>a</p>b<br/>"),
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("<pre><brx><p", "&lt;pre&gt;&lt;brx&gt;&lt;p"),
            ("&lt;b&gt; &nbsp;", "&amp;lt;b&amp;gt; &amp;nbsp;"),
            ("<<p>script>", "&lt;<p>script&gt;"),
            ("汤头<br/>清亮", "汤头<br/>清亮"),
            ("", ""),
        ] {
            assert_eq!(escaped(written), html, "{written}");
        }
    }

    #[test]
    fn nothing_but_breaks_and_paragraphs_begins_a_tag() {
        for nasty in [
            "<img src=x onerror=alert(1)>",
            "<p<script>",
            "<p/onload=x><br/src=x>",
            "<svg/onload=alert(1)>",
            "<!-- <p> -->",
            "<p\u{0}onclick=x>",
            "<P STYLE='x'><p>",
        ] {
            let html = escaped(nasty);
            let bare = html.replace("<p>", "").replace("</p>", "").replace("<br/>", "");
            assert!(!bare.contains('<') && !bare.contains('>'), "{nasty}: {html}");
        }
    }

    #[test]
    fn a_long_text_of_open_brackets_takes_no_long_time() {
        let text = "<p".repeat(100_000);
        assert_eq!(escaped(&text), "&lt;p".repeat(100_000));
        // At this length the search for the end of a tag stops, regardless of the machine's speed.
        let blanks = " ".repeat(TAG_MAX_BYTES);
        assert_eq!(escaped(&format!("<p{blanks}>")), format!("&lt;p{blanks}&gt;"));
    }
}
