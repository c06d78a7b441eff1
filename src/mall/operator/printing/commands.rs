//! The bytes for an ESC/POS printer: the commands of a receipt, and text in between.

use super::characters::{encoded, printable};

const ESC: u8 = 0x1B;
const FS: u8 = 0x1C;
const GS: u8 = 0x1D;
const LINE_FEED: u8 = b'\n';
/// Dots per module of a QR code. A receipt code has 21 modules: 21 mm at 203 dots per inch.
const QR_MODULE_DOTS: u8 = 8;

/// Place of a line on the paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Align {
    Left,
    Centre,
}

/// Look of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Look {
    Plain,
    Bold,
    /// Bold, twice as wide and as high.
    Double,
}

/// A job under construction. Text is always [`printable`]: no character of a text can become a command.
pub(super) struct Commands(Vec<u8>);

impl Commands {
    /// Begins a job: resets the printer (`ESC @`) and selects Chinese characters (`FS &`).
    pub(super) fn new() -> Self {
        Self(vec![ESC, b'@', FS, b'&'])
    }

    /// Prints a line (`ESC a`, `ESC E`, `GS !`).
    pub(super) fn line(&mut self, text: &str, align: Align, look: Look) {
        let size = if look == Look::Double { 0x11 } else { 0 };
        self.align(align);
        self.0.extend([ESC, b'E', u8::from(look != Look::Plain), GS, b'!', size]);
        self.0.extend_from_slice(&encoded(&printable(text)));
        self.0.push(LINE_FEED);
    }

    /// Prints letters and digits as a QR code that the printer draws itself (`GS ( k`), in the middle. Other
    /// characters are left out.
    pub(super) fn qr(&mut self, text: &str) {
        /// Bytes before the text that the length counts.
        const HEAD: [u8; 3] = *b"1P0";
        let letters: Vec<u8> = text.bytes().filter(u8::is_ascii_alphanumeric).collect();
        let Ok(length) = u16::try_from(HEAD.len() + letters.len()) else { return };
        let [low, high] = length.to_le_bytes();
        self.align(Align::Centre);
        // Model 2, size of a module, error correction M (a seventh may be damaged), text, print.
        self.0.extend([GS, b'(', b'k', 4, 0, b'1', b'A', b'2', 0]);
        self.0.extend([GS, b'(', b'k', 3, 0, b'1', b'C', QR_MODULE_DOTS]);
        self.0.extend([GS, b'(', b'k', 3, 0, b'1', b'E', b'1']);
        self.0.extend([GS, b'(', b'k', low, high]);
        self.0.extend(HEAD);
        self.0.extend(letters);
        self.0.extend([GS, b'(', b'k', 3, 0, b'1', b'Q', b'0', LINE_FEED]);
    }

    /// Feeds empty lines (`ESC d`).
    pub(super) fn feed(&mut self, lines: u8) {
        self.0.extend([ESC, b'd', lines]);
    }

    /// Ends the job: feeds to the knife and cuts (`GS V`). Printers without a knife only feed.
    pub(super) fn cut(mut self) -> Vec<u8> {
        self.0.extend([GS, b'V', b'B', 0]);
        self.0
    }

    fn align(&mut self, align: Align) {
        self.0.extend([ESC, b'a', u8::from(align == Align::Centre)]);
    }
}
