//! The characters of a receipt printer in Chinese mode: which it has, their bytes, and lines that fit.
//!
//! Reasons: `src/decisions/0084-receipts-on-paper.md`.

use std::borrow::Cow;

use encoding_rs::GB18030;

use crate::language::columns;

/// Stands in the place of characters that the printer lacks.
pub(super) const MISSING: char = '〓';
/// Characters that begin no line, if the line before can give up its last character.
const CLOSING: &str = "，。！？；：、）》」』】”’…％";

/// Replaces line ends, tabs and other white space by spaces, and each run of characters that the printer
/// lacks, control characters among them, by one [`MISSING`].
pub(super) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_missing = false;
    for c in text.chars() {
        let c = if c.is_whitespace() && c != '\u{3000}' { ' ' } else { c };
        let was_missing = std::mem::replace(&mut is_missing, !is_in_font(c));
        match (is_missing, was_missing) {
            (false, _) => out.push(c),
            (true, false) => out.push(MISSING),
            (true, true) => {}
        }
    }
    out
}

/// Returns the bytes of a [printable] text: none is below 0x20, 0x7F or 0xFF.
pub(super) fn encoded(text: &str) -> Cow<'_, [u8]> {
    GB18030.encode(text).0
}

/// Returns whether printers have the character: ASCII, the characters of two bytes without the private ones,
/// and Extension A of the Chinese characters, which GB 18030-2000 demands.
fn is_in_font(c: char) -> bool {
    match c {
        ' '..='~' | '\u{3400}'..='\u{4DBF}' => true,
        '\0'..='\u{9F}' | '\u{E000}'..='\u{F8FF}' => false,
        _ => GB18030.encode(c.encode_utf8(&mut [0; 4])).0.len() == 2,
    }
}

/// Splits a text into lines of at most `width` columns, between words where possible. Never returns a line
/// with spaces at an end. `width` is at least 2.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for unit in units(text) {
        if columns(&line) + columns(unit) <= width {
            line.push_str(unit);
            continue;
        }
        let carried = if CLOSING.contains(unit) { last_wide(&mut line) } else { None };
        finish(&mut lines, &mut line);
        line.extend(carried);
        // A word longer than a line is cut.
        for c in unit.chars() {
            if columns(&line) + columns(c.encode_utf8(&mut [0; 4])) > width {
                finish(&mut lines, &mut line);
            }
            line.push(c);
        }
    }
    finish(&mut lines, &mut line);
    lines
}

/// Splits a text into words of ASCII, spaces, and single characters of two columns.
fn units(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_word = |c: char| c.is_ascii_graphic();
        let end =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (unit, after) = rest.split_at(end);
        rest = after;
        Some(unit)
    })
}

/// Takes the last character off a line that has others before, if the character takes two columns.
fn last_wide(line: &mut String) -> Option<char> {
    let last = line.chars().next_back().filter(|c| !c.is_ascii())?;
    if line.len() == last.len_utf8() { None } else { line.pop() }
}

fn finish(lines: &mut Vec<String>, line: &mut String) {
    let text = line.trim();
    if !text.is_empty() {
        lines.push(text.to_owned());
    }
    line.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character alone.
    #[test]
    fn every_character_comes_back_from_its_bytes_or_is_visibly_replaced() {
        let mut kept = 0;
        for c in '\0'..=char::MAX {
            let alone = c.to_string();
            let shown = printable(&alone);
            let bytes = encoded(&shown);
            assert_eq!(GB18030.decode_without_bom_handling(&bytes).0, shown, "{c:?}");
            assert!(
                bytes.iter().all(|byte| (0x20..0xFF).contains(byte) && *byte != 0x7F),
                "{c:?}: {bytes:?}"
            );
            let width = if bytes.len() == 1 { 1 } else { 2 };
            assert_eq!(columns(&shown), width, "{c:?}: the columns of a printer");
            if shown == alone {
                kept += 1;
            } else {
                let want = if c.is_whitespace() { ' ' } else { MISSING };
                assert_eq!(shown, want.to_string(), "{c:?}");
            }
        }
        assert!((28_000..32_000).contains(&kept), "{kept}");
        for c in "店铺·券¤—“”×÷±℃αЯアㄅ①㐀龥￥，".chars() {
            assert!(is_in_font(c), "{c}");
        }
        for c in "¥é̈👩\u{200D}\u{FEFF}\u{202E}\u{E5E5}\u{1B}\u{10}\u{7F}\u{80}𠮷".chars() {
            assert_eq!(is_in_font(c), c == 'é', "{c:?}");
        }
    }

    #[test]
    fn a_run_of_missing_characters_is_one_mark_and_white_space_a_space() {
        for (text, shown) in [
            ("茶👩\u{200D}👩\u{200D}👧餐", "茶〓餐"),
            ("a\u{1B}@b", "a〓@b"),
            ("\u{10}\u{4}\u{1}", "〓"),
            ("一\r\n二\t三\u{A0}四\u{2028}五", "一  二 三 四 五"),
            ("〓👧", "〓〓"),
            ("", ""),
        ] {
            assert_eq!(printable(text), shown);
        }
    }

    #[test]
    fn lines_break_between_words_and_chinese_characters() {
        for (text, width, want) in [
            ("", 8, &[][..]),
            ("   ", 8, &[]),
            ("50元代金券", 8, &["50元代金", "券"]),
            ("a cup of tea", 8, &["a cup of", "tea"]),
            ("a cup of  tea", 6, &["a cup", "of", "tea"]),
            ("abcdefghij k", 4, &["abcd", "efgh", "ij k"]),
            ("周末全天可用，不限", 12, &["周末全天可", "用，不限"]),
            ("ab茶", 3, &["ab", "茶"]),
            ("，，", 2, &["，", "，"]),
            ("全场通用 no reservation", 16, &["全场通用 no", "reservation"]),
        ] {
            assert_eq!(wrapped(text, width), want, "{text}");
        }
    }

    /// Texts from a seed, of characters that break lines differently.
    #[test]
    fn no_line_is_too_wide_and_no_character_is_lost() {
        let alphabet: Vec<char> = "ab-1 ， 。茶餐厅（）".chars().collect();
        let mut state = 7_u64;
        for _ in 0..2_000 {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                usize::try_from(state >> 33).unwrap()
            };
            let length = next() % 60;
            let text: String = (0..length).map(|_| alphabet[next() % alphabet.len()]).collect();
            let width = 2 + next() % 30;
            let lines = wrapped(&text, width);
            for line in &lines {
                assert!(
                    columns(line) <= width && line == line.trim() && !line.is_empty(),
                    "{text}: {lines:?}"
                );
            }
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(bare(&lines.concat()), bare(&text));
        }
    }
}
