//! A backup being written.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use ed25519_dalek::{Signer as _, SigningKey};
use flate2::Compression;
use flate2::write::GzEncoder;
use mallbox_storage::hex;
use sha2::{Digest as _, Sha256};

use super::keys;
use super::manifest::{CONTENTS, HEADER, Header, ListedFile, SIGNATURE};

/// Effort of the compression: most of the effect at a third of the time of the default.
const LEVEL: u32 = 3;

/// A backup being written. Without [`finish`](Self::finish), what was written is no backup.
pub struct BackupWriter<W: Write> {
    tar: tar::Builder<GzEncoder<W>>,
    listed: Vec<ListedFile>,
    signer: Option<SigningKey>,
}

impl<W: Write> BackupWriter<W> {
    /// Begins a backup, which is signed at its end if there is a key.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn begin(out: W, header: Header, signer: Option<SigningKey>) -> io::Result<Self> {
        let header =
            Header { signer: signer.as_ref().map(|key| keys::name_of(&key.verifying_key())), ..header };
        let tar = tar::Builder::new(GzEncoder::new(out, Compression::new(LEVEL)));
        let mut writer = Self { tar, listed: Vec::new(), signer };
        writer.add_bytes(HEADER, &serde_json::to_vec_pretty(&header)?)?;
        Ok(writer)
    }

    /// Adds a file with the given content.
    ///
    /// # Errors
    /// The backup cannot be written.
    pub fn add_bytes(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        self.add(path, content.len() as u64, content, |_| {})
    }

    /// Adds the first `bytes` of an open file under the name `path`. Reports the bytes read since the last
    /// report.
    ///
    /// # Errors
    /// The file cannot be read or was shortened meanwhile, or the backup cannot be written.
    pub fn add_file(
        &mut self,
        path: &str,
        (file, bytes): (File, u64),
        progress: impl FnMut(u64),
    ) -> io::Result<()> {
        self.add(path, bytes, BufReader::with_capacity(1 << 16, file), progress)
    }

    fn add(
        &mut self,
        path: &str,
        bytes: u64,
        content: impl Read,
        progress: impl FnMut(u64),
    ) -> io::Result<()> {
        let mut entry = tar::Header::new_gnu();
        entry.set_entry_type(tar::EntryType::Regular);
        entry.set_mode(0o600);
        entry.set_size(bytes);
        let mut hashed = Hashed { from: content.take(bytes), hash: Sha256::new(), left: bytes, progress };
        self.tar.append_data(&mut entry, path, &mut hashed)?;
        if hashed.left > 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("{path} was shortened")));
        }
        let sha256 = hex(&hashed.hash.finalize());
        self.listed.push(ListedFile { path: path.to_owned(), bytes, sha256 });
        Ok(())
    }

    /// Completes the backup with the list of its contents and its signature.
    ///
    /// # Errors
    /// The backup cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        let list = serde_json::to_vec_pretty(&self.listed)?;
        self.add_bytes(CONTENTS, &list)?;
        if let Some(signer) = &self.signer {
            let signature = signer.sign(&list).to_bytes();
            self.add_bytes(SIGNATURE, &signature)?;
        }
        self.tar.into_inner()?.finish()
    }
}

/// Content that is hashed while it is read.
struct Hashed<R, P> {
    from: R,
    hash: Sha256,
    left: u64,
    progress: P,
}

impl<R: Read, P: FnMut(u64)> Read for Hashed<R, P> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.hash.update(&into[..read]);
        self.left = self.left.saturating_sub(read as u64);
        (self.progress)(read as u64);
        Ok(read)
    }
}
