//! Tokenizer: words, names, literals and comments as in MySQL.

use std::io::Read;

use super::ending::Ending;
use super::error::{DumpError, Position};
use super::source::Source;
use crate::language::{bilingual_text, both};

/// Maximum size of a value kept; equals the limit of MySQL's MEDIUMTEXT.
const VALUE_MAX_BYTES: usize = 16 << 20;
/// Maximum bytes kept of a name or word. MySQL's names have at most 64 characters.
const NAME_MAX_BYTES: usize = 256;
/// `/*!` comments from this version on are not for MySQL: MariaDB's dumps begin with `/*M!999999`, meant for
/// MariaDB's client only.
const NO_VERSION: u32 = 200_000;

/// Kind of a token. The contents are in [`Tokens::text`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The end of the file.
    End,
    /// An unquoted word.
    Word,
    /// A name in backquotes.
    Name,
    /// A text in single or double quotes, with resolved escapes.
    Text,
    /// Digits and other characters of a number, without a sign.
    Number,
    /// `x'..'` or `0x..`, `b'..'` or `0b..`, converted to bytes.
    Bytes,
    /// Any other character.
    Mark(u8),
}

/// A token with its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) at: Position,
}

impl Token {
    pub(super) fn is(self, mark: u8) -> bool {
        self.kind == Kind::Mark(mark)
    }
}

/// Tokenizer of a file.
pub(super) struct Tokens<R> {
    pub(super) source: Source<R>,
    text: Vec<u8>,
    /// Markers of the dump's end, from comments and statements.
    pub(super) ending: Ending,
    /// Start of the enclosing `/*!40101 … */`, whose contents are executed.
    conditional: Option<Position>,
}

impl<R: Read> Tokens<R> {
    pub(super) fn new(input: R) -> Self {
        Self { source: Source::new(input), text: Vec::new(), ending: Ending::default(), conditional: None }
    }

    /// Returns the contents of the last token, if kept.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Takes the [`text`](Self::text) out of the tokenizer.
    pub(super) fn take_text(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }

    /// Returns whether the last token, an unquoted word, equals `word`, ignoring case.
    pub(super) fn says(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word.as_bytes())
    }

    /// Returns the next token and keeps its contents.
    pub(super) fn next(&mut self) -> Result<Token, DumpError> {
        self.token(true)
    }

    /// Returns the next token; the contents of literals are not kept.
    pub(super) fn skip(&mut self) -> Result<Token, DumpError> {
        self.token(false)
    }

    fn token(&mut self, keep: bool) -> Result<Token, DumpError> {
        self.pass_blank()?;
        self.text.clear();
        let at = self.source.position();
        let ahead = self.source.ahead(2)?;
        let second = ahead.get(1).copied();
        let kind = match ahead.first().copied() {
            None => self.end()?,
            Some(quote @ (b'\'' | b'"')) => self.quoted(quote, Kind::Text, keep, at)?,
            Some(b'`') => self.quoted(b'`', Kind::Name, true, at)?,
            Some(b'x' | b'X') if second == Some(b'\'') => self.quoted_digits(16, at)?,
            Some(b'b' | b'B') if second == Some(b'\'') => self.quoted_digits(2, at)?,
            Some(b'0') if second == Some(b'x') => self.prefixed_digits(16, at)?,
            Some(b'0') if second == Some(b'b') => self.prefixed_digits(2, at)?,
            Some(b'0'..=b'9') => self.number()?,
            Some(b'.') if second.is_some_and(|byte| byte.is_ascii_digit()) => self.number()?,
            Some(first) if is_word(first) => self.word()?,
            Some(mark) => {
                self.source.pass(1);
                Kind::Mark(mark)
            }
        };
        Ok(Token { kind, at })
    }

    fn end(&mut self) -> Result<Kind, DumpError> {
        match self.conditional.take() {
            Some(at) => Err(DumpError::cut(
                at,
                both("文件在由此开始的注释中间结束", "the file ends inside the comment that begins here"),
            )),
            None => Ok(Kind::End),
        }
    }

    /// Skips white space and comments, and enters executable comments.
    fn pass_blank(&mut self) -> Result<(), DumpError> {
        loop {
            self.source.pass_until(|byte| !byte.is_ascii_whitespace(), |_| {})?;
            let ahead = self.source.ahead(4)?;
            match ahead {
                [b'#', ..] => self.line_comment()?,
                [b'-', b'-'] => self.line_comment()?,
                [b'-', b'-', after, ..] if after.is_ascii_whitespace() || after.is_ascii_control() => {
                    self.line_comment()?;
                }
                [b'/', b'*', b'!', ..] => self.enter(3)?,
                [b'/', b'*', b'M', b'!', ..] => self.enter(4)?,
                [b'/', b'*', ..] => self.block_comment(2)?,
                [b'*', b'/', ..] if self.conditional.is_some() => {
                    self.conditional = None;
                    self.source.pass(2);
                }
                _ => return Ok(()),
            }
        }
    }

    /// Enters a comment that MySQL executes from some version on.
    fn enter(&mut self, opening: usize) -> Result<(), DumpError> {
        const DIGITS: usize = 6;
        let at = self.source.position();
        let ahead = self.source.ahead(opening + DIGITS)?;
        let digits = ahead[opening..].iter().take(DIGITS).take_while(|byte| byte.is_ascii_digit());
        let (count, version) = digits
            .fold((0, 0_u32), |(count, value), digit| (count + 1, value * 10 + u32::from(digit - b'0')));
        if version >= NO_VERSION {
            return self.block_comment(opening);
        }
        if self.conditional.is_some() {
            return Err(DumpError::at(at, both("`/*!`注释不能嵌套", "nested `/*!` comment")));
        }
        self.source.pass(opening + count);
        self.conditional = Some(at);
        Ok(())
    }

    fn line_comment(&mut self) -> Result<(), DumpError> {
        let begin = self.source.ahead(48)?;
        self.ending.comment(begin);
        self.source.pass_until(|byte| byte == b'\n', |_| {})?;
        Ok(())
    }

    fn block_comment(&mut self, opening: usize) -> Result<(), DumpError> {
        let at = self.source.position();
        self.source.pass(opening);
        loop {
            if self.source.pass_until(|byte| byte == b'*', |_| {})?.is_none() {
                return Err(DumpError::cut(
                    at,
                    both("文件在由此开始的注释中间结束", "the file ends inside the comment that begins here"),
                ));
            }
            let ends = self.source.ahead(2)?.starts_with(b"*/");
            self.source.pass(if ends { 2 } else { 1 });
            if ends {
                return Ok(());
            }
        }
    }

    /// Reads a quoted text or name. A doubled quote stands for itself; a backslash escapes, except in names.
    fn quoted(&mut self, quote: u8, kind: Kind, keep: bool, at: Position) -> Result<Kind, DumpError> {
        let longest = if kind == Kind::Name { NAME_MAX_BYTES } else { VALUE_MAX_BYTES };
        let escapes = kind == Kind::Text;
        self.source.pass(1);
        loop {
            let text = &mut self.text;
            let piece = |piece: &[u8]| {
                if keep && text.len() <= longest {
                    text.extend_from_slice(piece);
                }
            };
            let stop = self.source.pass_until(|byte| byte == quote || (escapes && byte == b'\\'), piece)?;
            if self.text.len() > longest {
                let what = match kind {
                    Kind::Name => {
                        bilingual_text!(
                            "名称超过{NAME_MAX_BYTES}字节",
                            "name longer than {NAME_MAX_BYTES} bytes"
                        )
                    }
                    _ => {
                        let most = VALUE_MAX_BYTES >> 20;
                        bilingual_text!("值超过{most} MiB", "value larger than {most} MiB")
                    }
                };
                return Err(DumpError::at(at, what));
            }
            let second = self.source.ahead(2)?.get(1).copied();
            let meant = match (stop, second) {
                (None, _) | (Some(b'\\'), None) => {
                    return Err(DumpError::cut(
                        at,
                        both(
                            "文件在由此开始的文本中间结束",
                            "the file ends inside the string that begins here",
                        ),
                    ));
                }
                (Some(b'\\'), Some(escaped)) if quote != b'`' => unescaped(escaped),
                (Some(_), Some(again)) if again == quote => quote,
                (Some(_), _) => {
                    self.source.pass(1);
                    return Ok(kind);
                }
            };
            if keep {
                // `\%` and `\_` are pattern escapes; in other texts MySQL keeps both characters.
                if stop == Some(b'\\') && matches!(meant, b'%' | b'_') {
                    self.text.push(b'\\');
                }
                self.text.push(meant);
            }
            self.source.pass(2);
        }
    }

    fn quoted_digits(&mut self, base: u32, at: Position) -> Result<Kind, DumpError> {
        self.source.pass(1);
        self.quoted(b'\'', Kind::Text, true, at)?;
        self.digits_to_bytes(base, at)
    }

    fn prefixed_digits(&mut self, base: u32, at: Position) -> Result<Kind, DumpError> {
        self.source.pass(2);
        self.run(|byte| byte.is_ascii_alphanumeric(), VALUE_MAX_BYTES)?;
        self.digits_to_bytes(base, at)
    }

    /// Converts digits to bytes, padded on the left.
    fn digits_to_bytes(&mut self, base: u32, at: Position) -> Result<Kind, DumpError> {
        let a_byte = if base == 16 { 2 } else { 8 };
        let missing = (a_byte - self.text.len() % a_byte) % a_byte;
        let mut bytes = Vec::with_capacity(self.text.len() / a_byte + 1);
        let (mut byte, mut count) = (0_u32, missing);
        for digit in &self.text {
            let Some(value) = char::from(*digit).to_digit(base) else {
                return Err(DumpError::at(
                    at,
                    both(
                        "十六进制或二进制值里有其他字符",
                        "invalid character in a hexadecimal or binary value",
                    ),
                ));
            };
            byte = byte * base + value;
            count += 1;
            if count == a_byte {
                bytes.extend(u8::try_from(byte));
                (byte, count) = (0, 0);
            }
        }
        self.text = bytes;
        Ok(Kind::Bytes)
    }

    fn number(&mut self) -> Result<Kind, DumpError> {
        let in_number = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.';
        self.run(in_number, NAME_MAX_BYTES)?;
        // In 1e+5, the sign is part of the number.
        let ends_in_e = self.text.last().is_some_and(|last| matches!(last, b'e' | b'E'));
        let sign = self.source.byte()?.filter(|byte| matches!(byte, b'+' | b'-'));
        if let (true, Some(sign)) = (ends_in_e, sign) {
            self.source.pass(1);
            self.text.push(sign);
            self.run(|byte| byte.is_ascii_digit(), NAME_MAX_BYTES)?;
        }
        Ok(Kind::Number)
    }

    fn word(&mut self) -> Result<Kind, DumpError> {
        self.run(is_word, NAME_MAX_BYTES)?;
        Ok(Kind::Word)
    }

    /// Reads bytes while `fits` holds; keeps only the first `longest`.
    fn run(&mut self, fits: impl Fn(u8) -> bool, longest: usize) -> Result<(), DumpError> {
        let text = &mut self.text;
        self.source.pass_until(
            |byte| !fits(byte),
            |piece| {
                let room = longest.saturating_sub(text.len());
                text.extend_from_slice(&piece[..piece.len().min(room)]);
            },
        )?;
        Ok(())
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

fn unescaped(byte: u8) -> u8 {
    match byte {
        b'0' => 0,
        b'b' => 8,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'Z' => 26,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<(Kind, String)>, DumpError> {
        let mut tokens = Tokens::new(text.as_bytes());
        let mut found = Vec::new();
        loop {
            match tokens.next()?.kind {
                Kind::End => return Ok(found),
                kind => found.push((kind, String::from_utf8_lossy(tokens.text()).into_owned())),
            }
        }
    }

    fn texts(text: &str) -> Vec<String> {
        all(text).unwrap().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn literals_are_read_as_mysql_reads_them() {
        for (written, meant) in [
            (r"'it''s'", "it's"),
            (r#""a ""b"" c""#, r#"a "b" c"#),
            (r"'a\'b\\c\nd\te\0f\Zg\%h\_i\q'", "a'b\\c\nd\te\0f\u{1a}g\\%h\\_iq"),
            ("'\\\\'", "\\"),
            ("''", ""),
            ("`a``b\\`", "a`b\\"),
            ("x'4D79'", "My"),
            ("0x4d7953", "MyS"),
            ("X''", ""),
            ("b'1001101'", "M"),
            ("0b1001101", "M"),
            ("0000000012", "0000000012"),
            ("1.5e+10", "1.5e+10"),
            (".5", ".5"),
        ] {
            assert_eq!(texts(written), [meant], "{written}");
        }
        assert_eq!(all("x'1'").unwrap(), [(Kind::Bytes, "\u{1}".to_owned())]);
        assert!(all("x'1g'").is_err() && all("b'2'").is_err());
    }

    #[test]
    fn comments_are_passed_but_for_those_whose_inside_counts() {
        assert_eq!(texts("a -- b\n# c\r\n/* d; 'e */ f/**/g--"), ["a", "f", "g"]);
        assert_eq!(texts("/*!40101 SET a */; /*!50003 CREATE*/ b"), ["SET", "a", "", "CREATE", "b"]);
        assert_eq!(texts("/*M!100100 c */ /*M!999999\\- enable the sandbox mode */ d"), ["c", "d"]);
        assert_eq!(texts("a--b"), ["a", "", "", "b"]);
        for cut in ["/* a", "/*!40101 a", "'a", "'a\\", "`a", "/*!1 /*!2 */*/"] {
            assert!(all(cut).is_err(), "{cut}");
        }
    }

    #[test]
    fn a_value_that_never_ends_is_refused_before_it_fills_memory() {
        let long = format!("'{}'", "x".repeat(VALUE_MAX_BYTES + 1));
        assert!(all(&long).unwrap_err().to_string().contains("16 MiB"));
        assert_eq!(texts(&"w".repeat(100_000))[0].len(), NAME_MAX_BYTES);
    }
}
