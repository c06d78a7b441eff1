//! Byte source with lookahead and positions.

use std::io::{self, Read};

use super::error::Position;

/// Size of the read buffer.
const BUFFER_BYTES: usize = 64 << 10;

/// A window sliding over a file of any length.
pub(super) struct Source<R> {
    input: R,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
    is_over: bool,
    /// Bytes of the file before `buffer[at]`.
    passed: u64,
    line: u64,
    line_began: u64,
}

impl<R: Read> Source<R> {
    pub(super) fn new(input: R) -> Self {
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        Self { input, buffer, at: 0, end: 0, is_over: false, passed: 0, line: 1, line_began: 0 }
    }

    /// Returns the bytes ahead: at least `least`, a small number, unless the file ends before.
    pub(super) fn ahead(&mut self, least: usize) -> io::Result<&[u8]> {
        while self.end - self.at < least && !self.is_over {
            self.buffer.copy_within(self.at..self.end, 0);
            self.end -= self.at;
            self.at = 0;
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.is_over = true,
                Ok(more) => self.end += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.buffer[self.at..self.end])
    }

    /// Returns the next byte without consuming it; `None` at the end.
    pub(super) fn byte(&mut self) -> io::Result<Option<u8>> {
        self.ahead(1).map(|ahead| ahead.first().copied())
    }

    /// Consumes bytes within the window.
    pub(super) fn pass(&mut self, bytes: usize) {
        let passed = &self.buffer[self.at..self.end][..bytes];
        for (index, _) in passed.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            self.line += 1;
            self.line_began = self.passed + index as u64 + 1;
        }
        self.at += bytes;
        self.passed += bytes as u64;
    }

    /// Consumes bytes up to the first one that `stops`, or to the end. Passes the consumed bytes to `piece`,
    /// chunk by chunk. Returns the byte reached, not consumed; `None` at the end.
    pub(super) fn pass_until(
        &mut self,
        stops: impl Fn(u8) -> bool,
        mut piece: impl FnMut(&[u8]),
    ) -> io::Result<Option<u8>> {
        loop {
            let ahead = self.ahead(1)?;
            if ahead.is_empty() {
                return Ok(None);
            }
            let found = ahead.iter().position(|byte| stops(*byte));
            let length = found.unwrap_or(ahead.len());
            let stopped = found.map(|index| ahead[index]);
            piece(&ahead[..length]);
            self.pass(length);
            if stopped.is_some() {
                return Ok(stopped);
            }
        }
    }

    pub(super) fn position(&self) -> Position {
        Position { line: self.line, column: self.passed - self.line_began + 1 }
    }

    /// Returns the number of bytes consumed.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one byte per read, like a slow pipe.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            into[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn places_are_counted_in_lines_and_bytes() {
        let mut source = Source::new(Drops(b"ab\nc\r\n\nd"));
        assert_eq!(source.ahead(4).unwrap(), b"ab\nc");
        source.pass(4);
        assert_eq!(source.position(), Position { line: 2, column: 2 });
        assert_eq!(source.pass_until(|byte| byte == b'd', |_| {}).unwrap(), Some(b'd'));
        assert_eq!(source.position(), Position { line: 4, column: 1 });
        source.pass(1);
        assert_eq!(source.byte().unwrap(), None);
        assert_eq!(source.passed(), 8);
    }

    #[test]
    fn a_piece_longer_than_the_window_comes_whole() {
        let long = [vec![b'x'; 3 * BUFFER_BYTES + 5], b"'".to_vec()].concat();
        let mut source = Source::new(&long[..]);
        let mut length = 0;
        let stop = source.pass_until(|byte| byte == b'\'', |piece| length += piece.len()).unwrap();
        assert_eq!((stop, length), (Some(b'\''), 3 * BUFFER_BYTES + 5));
    }
}
