//! A receipt printer on the other side of the wire: reads the bytes of a job as an ESC/POS printer does, and
//! shows what would be on the paper. Panics at a command that is not one of a receipt's.

use encoding_rs::GB18030;

/// Something on the paper.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Printed {
    /// A line, as it stands on paper of a width: centred lines have their margin.
    Line { text: String, is_bold: bool, is_double: bool },
    /// A QR code with its content.
    Qr(String),
    /// The paper was cut.
    Cut,
}

/// Interprets a job on paper with this number of columns. Every line must fit.
pub fn printed(mut job: &[u8], columns: usize) -> Vec<Printed> {
    let mut paper = Vec::new();
    let (mut is_centred, mut is_bold, mut is_double, mut is_chinese) = (false, false, false, false);
    let (mut line, mut stored) = (Vec::new(), String::new());
    while let Some(first) = job.first() {
        let taken = match (first, job) {
            (0x1B, [_, b'@', ..]) => {
                (is_centred, is_bold, is_double, is_chinese) = (false, false, false, false);
                2
            }
            (0x1C, [_, b'&', ..]) => {
                is_chinese = true;
                2
            }
            (0x1B, [_, b'a', place @ 0..=1, ..]) => {
                is_centred = *place == 1;
                3
            }
            (0x1B, [_, b'E', weight @ 0..=1, ..]) => {
                is_bold = *weight == 1;
                3
            }
            (0x1D, [_, b'!', size @ (0 | 0x11), ..]) => {
                is_double = *size == 0x11;
                3
            }
            (0x1B, [_, b'd', lines, ..]) => {
                let empty = Printed::Line { text: String::new(), is_bold: false, is_double: false };
                paper.extend((0..*lines).map(|_| empty.clone()));
                3
            }
            (0x1D, [_, b'V', b'B', 0, ..]) => {
                paper.push(Printed::Cut);
                4
            }
            (0x1D, [_, b'(', b'k', low, high, rest @ ..]) => {
                let length = usize::from(u16::from_le_bytes([*low, *high]));
                match &rest[..length] {
                    [b'1', b'A' | b'C' | b'E', ..] => {}
                    [b'1', b'P', b'0', text @ ..] => stored = String::from_utf8(text.to_vec()).unwrap(),
                    [b'1', b'Q', b'0'] => paper.push(Printed::Qr(std::mem::take(&mut stored))),
                    other => panic!("no command of QR codes: {other:?}"),
                }
                5 + length
            }
            (b'\n', _) => {
                let after_qr = line.is_empty() && matches!(paper.last(), Some(Printed::Qr(_)));
                if !after_qr {
                    let width = if is_double { 2 } else { 1 };
                    let text = shown(&std::mem::take(&mut line), is_chinese, is_centred, columns / width);
                    paper.push(Printed::Line { text, is_bold, is_double });
                }
                1
            }
            (byte, _) if *byte >= 0x20 => {
                line.push(*byte);
                1
            }
            (byte, rest) => {
                panic!("{byte:#04x} is no command of a receipt: {:02x?}", &rest[..rest.len().min(8)])
            }
        };
        job = &job[taken..];
    }
    assert!(line.is_empty() && stored.is_empty(), "the job ends in the middle of something");
    paper
}

/// Returns what a person sees: lines, `[QR text]` and `✂`.
pub fn seen(job: &[u8], columns: usize) -> Vec<String> {
    let shown = |printed| match printed {
        Printed::Line { text, .. } => text,
        Printed::Qr(text) => format!("[QR {text}]"),
        Printed::Cut => "✂".to_owned(),
    };
    printed(job, columns).into_iter().map(shown).collect()
}

/// Decodes a line: one byte takes one column, a Chinese character of two or four bytes takes two.
fn shown(bytes: &[u8], is_chinese: bool, is_centred: bool, columns: usize) -> String {
    assert!(is_chinese || bytes.is_ascii(), "Chinese characters before FS &");
    let (text, _, has_errors) = GB18030.decode(bytes);
    assert!(!has_errors, "{bytes:02x?}");
    let width: usize = text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
    assert!(width <= columns, "{width} columns of {columns}: {text}");
    let margin = if is_centred { (columns - width) / 2 } else { 0 };
    format!("{}{text}", " ".repeat(margin))
}
