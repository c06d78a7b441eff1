//! Encryption of a backup with age: a layer around the compressed archive.

use std::io::{self, BufRead, Read, Write};

use age::stream::StreamWriter;
use age::x25519::{Identity, Recipient};
use age::{DecryptError, Decryptor, Encryptor};

use super::fault::BackupFault;

/// How every file of age begins.
const MAGIC: &[u8] = b"age-encryption.org/";

/// A file being written, encrypted if there are recipients.
pub enum Output<W: Write> {
    /// As it is.
    Plain(W),
    /// Encrypted.
    Encrypted(StreamWriter<W>),
}

impl<W: Write> Output<W> {
    /// Begins a file that each of the `recipients` can decrypt; a plain one without recipients.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn begin(out: W, recipients: &[Recipient]) -> io::Result<Self> {
        if recipients.is_empty() {
            return Ok(Self::Plain(out));
        }
        let recipients = recipients.iter().map(|recipient| recipient as &dyn age::Recipient);
        let encryptor = Encryptor::with_recipients(recipients).map_err(io::Error::other)?;
        encryptor.wrap_output(out).map(Self::Encrypted)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(out) => Ok(out),
            Self::Encrypted(out) => out.finish(),
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Encrypted(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Encrypted(out) => out.flush(),
        }
    }
}

/// Returns the content of a file, decrypted with the first fitting key if it is encrypted.
pub(super) fn decrypted<'a, R: BufRead + 'a>(
    mut from: R,
    keys: &[Identity],
) -> Result<Box<dyn Read + 'a>, BackupFault> {
    let is_encrypted = from.fill_buf().is_ok_and(|start| start.starts_with(MAGIC));
    if !is_encrypted {
        return Ok(Box::new(from));
    }
    let decryptor = Decryptor::new_buffered(from).map_err(fault)?;
    if keys.is_empty() {
        return Err(BackupFault::Encrypted);
    }
    let opened = decryptor.decrypt(keys.iter().map(|key| key as &dyn age::Identity)).map_err(fault)?;
    Ok(Box::new(opened))
}

fn fault(error: DecryptError) -> BackupFault {
    match error {
        DecryptError::NoMatchingKeys => BackupFault::OtherKey,
        DecryptError::UnknownFormat => BackupFault::NotABackup,
        DecryptError::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => BackupFault::CutOff,
        _ => BackupFault::Damaged { entry: None },
    }
}
