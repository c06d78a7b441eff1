//! A backup being unpacked: into an empty directory, and only what belongs into a backup.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Component, Path};

use age::x25519::Identity;
use ed25519_dalek::{Signature, VerifyingKey};
use flate2::read::GzDecoder;
use mallbox_storage::{Claim, hex};
use sha2::{Digest as _, Sha256};

use super::encryption::decrypted;
use super::fault::BackupFault;
use super::keys;
use super::manifest::{
    CLAIMS, CONTENTS, ClaimLine, FORMAT_OF_SERVERS, HEADER, Header, ListedFile, PAGES, SIGNATURE, VISITS,
};
use super::{DATABASE, DIRECTORIES, TABLES, UPLOADS};

/// Size limit of header and list of contents in bytes: a list of some hundred thousand files.
const JSON_MAX_BYTES: u64 = 64 << 20;

/// What opens a backup, and what is demanded of it.
#[derive(Default)]
pub struct Credentials {
    /// Keys of which one decrypts an encrypted backup.
    pub identities: Vec<Identity>,
    /// The key that the backup has to be signed with; `None` to take unsigned ones, and any signature that
    /// fits.
    pub signer: Option<VerifyingKey>,
}

/// Kinds of archives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A backup of a mall in a directory.
    Directory,
    /// A backup of a mall on servers.
    Servers,
    /// A point of a stream.
    Point,
}

impl Kind {
    /// Returns the file that an archive of this kind must have.
    fn main(self) -> &'static str {
        match self {
            Self::Directory => DATABASE,
            Self::Servers => VISITS,
            Self::Point => PAGES,
        }
    }

    /// Returns the directories whose files an archive of this kind may have.
    fn directories(self) -> &'static [&'static str] {
        match self {
            Self::Directory | Self::Point => &DIRECTORIES,
            Self::Servers => &[TABLES, UPLOADS],
        }
    }

    /// Refuses the header of a backup of another kind.
    fn check(self, header: &Header) -> Result<(), BackupFault> {
        match (self, header.servers) {
            (Self::Directory, Some(_)) => Err(BackupFault::OfServers),
            (Self::Servers, None) => Err(BackupFault::OfDirectory),
            _ => Ok(()),
        }
    }
}

/// What was unpacked.
#[derive(Debug)]
pub struct Unpacked {
    /// The backup's header.
    pub header: Header,
    /// The claims that were pending.
    pub claims: Vec<Claim>,
}

/// Unpacks a backup of a kind into the empty directory `into`, and compares everything with the backup's own
/// list. Reports the bytes read so far.
///
/// # Errors
/// [`BackupFault`]. `into` may contain part of the backup then.
pub fn unpack(
    from: &Path,
    kind: Kind,
    into: &Path,
    credentials: &Credentials,
    progress: impl FnMut(u64),
) -> Result<Unpacked, BackupFault> {
    let file = File::open(from).map_err(|source| BackupFault::Io { path: from.to_owned(), source })?;
    let read = Counted { from: file, bytes: 0, progress };
    unpack_archive(read, into, credentials, kind)
}

/// Reads the header of a backup alone. Nothing is checked against the list of contents or the signature.
///
/// # Errors
/// [`BackupFault`]: the file cannot be read that far.
pub fn header(from: &Path, credentials: &Credentials) -> Result<Header, BackupFault> {
    let file = File::open(from).map_err(|source| BackupFault::Io { path: from.to_owned(), source })?;
    let read = decrypted(BufReader::new(file), &credentials.identities)?;
    let mut tar = tar::Archive::new(GzDecoder::new(read));
    let entry = tar.entries().and_then(|mut entries| entries.next().transpose());
    let entry = entry.map_err(|error| broken(&error))?.ok_or(BackupFault::NotABackup)?;
    let mut text = Vec::new();
    entry.take(JSON_MAX_BYTES).read_to_end(&mut text).map_err(|error| broken(&error))?;
    serde_json::from_slice(&text).map_err(|_| BackupFault::NotABackup)
}

/// Unpacks a point of a stream into the empty directory `into`, as [`unpack`] does a backup.
///
/// # Errors
/// [`BackupFault`]. `into` may contain part of the point then.
pub fn unpack_point(archive: &[u8], into: &Path, credentials: &Credentials) -> Result<Unpacked, BackupFault> {
    unpack_archive(archive, into, credentials, Kind::Point)
}

fn unpack_archive(
    archive: impl Read,
    into: &Path,
    credentials: &Credentials,
    kind: Kind,
) -> Result<Unpacked, BackupFault> {
    let read = decrypted(BufReader::with_capacity(1 << 16, archive), &credentials.identities)?;
    let mut tar = tar::Archive::new(GzDecoder::new(read));
    let entries = tar.entries().map_err(|error| broken(&error))?;
    let signer = credentials.signer.as_ref();
    let mut unpacking = Unpacking {
        into,
        kind,
        demanded: signer,
        signer: None,
        header: None,
        contents: None,
        found: BTreeMap::new(),
        bytes: 0,
    };
    for entry in entries {
        let mut entry = entry.map_err(|error| unpacking.broken(&error))?;
        if unpacking.take(&mut entry)? {
            return unpacking.complete();
        }
    }
    Err(if unpacking.header.is_some() { BackupFault::CutOff } else { BackupFault::NotABackup })
}

/// A backup while it is being unpacked.
struct Unpacking<'a> {
    into: &'a Path,
    kind: Kind,
    /// The key that the backup has to be signed with.
    demanded: Option<&'a VerifyingKey>,
    /// The key that the header names.
    signer: Option<VerifyingKey>,
    header: Option<Header>,
    /// The list of contents.
    contents: Option<Vec<u8>>,
    /// Size and SHA-256 of each entry so far.
    found: BTreeMap<String, (u64, String)>,
    bytes: u64,
}

impl Unpacking<'_> {
    /// Unpacks an entry. Returns whether it is the last one.
    fn take(&mut self, entry: &mut tar::Entry<'_, impl Read>) -> Result<bool, BackupFault> {
        let path = entry.path_bytes().into_owned();
        let path = String::from_utf8(path).map_err(|_| BackupFault::NotABackup)?;
        let is_file = entry.header().entry_type() == tar::EntryType::Regular;
        let Some(header) = &self.header else {
            if path != HEADER || !is_file {
                return Err(BackupFault::NotABackup);
            }
            let text = self.text(&path, entry)?;
            let header = self.begin(&text)?;
            self.signer = self.signer_of(&header)?;
            self.header = Some(header);
            return Ok(false);
        };
        if let (Some(contents), Some(signer), SIGNATURE) = (&self.contents, &self.signer, &*path) {
            let mut signature = [0; Signature::BYTE_SIZE];
            entry.read_exact(&mut signature).map_err(|error| self.broken(&error))?;
            let verified = signer.verify_strict(contents, &Signature::from_bytes(&signature));
            return verified.map(|()| true).map_err(|_| BackupFault::Forged);
        }
        if !is_file || !self.belongs(&path) || self.found.contains_key(&path) || self.contents.is_some() {
            return Err(BackupFault::Foreign(path));
        }
        if path == CONTENTS {
            self.contents = Some(self.text(&path, entry)?);
            return Ok(self.signer.is_none());
        }
        if entry.size() > header.bytes - self.bytes {
            return Err(damaged(&path));
        }
        self.bytes += entry.size();
        self.unpack(path, entry)?;
        Ok(false)
    }

    /// Returns the key that a header says its backup is signed with, if it is the demanded one.
    fn signer_of(&self, header: &Header) -> Result<Option<VerifyingKey>, BackupFault> {
        let Some(name) = &header.signer else {
            return self.demanded.map_or(Ok(None), |_| Err(BackupFault::Unsigned));
        };
        if let Some(demanded) = self.demanded {
            return if keys::name_of(demanded) == *name {
                Ok(Some(*demanded))
            } else {
                Err(BackupFault::OtherSigner(name.clone()))
            };
        }
        let key = keys::key_of(name).ok_or_else(|| damaged(HEADER))?;
        Ok(Some(key))
    }

    /// Reads the header, and refuses what there is no room for.
    fn begin(&self, text: &[u8]) -> Result<Header, BackupFault> {
        #[derive(serde::Deserialize)]
        struct Versioned {
            format: u32,
        }
        let Versioned { format } = serde_json::from_slice(text).map_err(|_| BackupFault::NotABackup)?;
        if format > FORMAT_OF_SERVERS {
            return Err(BackupFault::Newer(format));
        }
        let header: Header = serde_json::from_slice(text).map_err(|_| BackupFault::NotABackup)?;
        self.kind.check(&header)?;
        let refused = |error: rustix::io::Errno| self.refused(error.into());
        let of_disk = rustix::fs::statvfs(self.into).map_err(refused)?;
        let free = of_disk.f_bavail.saturating_mul(of_disk.f_frsize);
        if header.bytes > free {
            let dir = self.into.to_owned();
            return Err(BackupFault::NoRoom { needed: header.bytes, free, dir });
        }
        Ok(header)
    }

    fn text(&mut self, path: &str, entry: &mut tar::Entry<'_, impl Read>) -> Result<Vec<u8>, BackupFault> {
        let size = entry.size();
        if size > JSON_MAX_BYTES {
            return Err(damaged(path));
        }
        let mut text = Vec::new();
        entry.read_to_end(&mut text).map_err(|error| self.broken(&error))?;
        self.found.insert(path.to_owned(), (size, hex(&Sha256::digest(&text))));
        Ok(text)
    }

    fn unpack(&mut self, path: String, entry: &mut tar::Entry<'_, impl Read>) -> Result<(), BackupFault> {
        let to = self.into.join(&path);
        let refused = |source| BackupFault::Io { path: to.clone(), source };
        if let Some(dir) = to.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(refused)?;
        }
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&to).map_err(refused)?;
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
        loop {
            let read = entry.read(&mut buffer).map_err(|error| self.broken(&error))?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
            file.write_all(&buffer[..read]).map_err(refused)?;
        }
        self.found.insert(path, (entry.size(), hex(&hash.finalize())));
        Ok(())
    }

    /// Compares what was unpacked with the list of contents, and reads the claims.
    fn complete(self) -> Result<Unpacked, BackupFault> {
        let contents = self.contents.unwrap_or_default();
        let listed: Vec<ListedFile> = serde_json::from_slice(&contents).map_err(|_| damaged(CONTENTS))?;
        let mut seen = HashSet::new();
        for file in &listed {
            let found = self.found.get(&file.path).map(|(bytes, sha256)| (*bytes, sha256.as_str()));
            if found != Some((file.bytes, &file.sha256)) {
                return Err(damaged(&file.path));
            }
            seen.insert(file.path.as_str());
        }
        let unlisted = self.found.keys().find(|path| *path != CONTENTS && !seen.contains(path.as_str()));
        if let Some(path) = unlisted {
            return Err(BackupFault::Foreign(path.clone()));
        }
        let header = self.header.ok_or(BackupFault::NotABackup)?;
        if let Some(missing) = [self.kind.main(), CLAIMS].into_iter().find(|needed| !seen.contains(needed)) {
            return Err(damaged(missing));
        }
        let path = self.into.join(CLAIMS);
        let refused = |source| BackupFault::Io { path: path.clone(), source };
        let lines = BufReader::new(File::open(&path).map_err(refused)?).lines();
        let mut claims = Vec::new();
        for line in lines {
            let line: Result<ClaimLine, _> = serde_json::from_str(&line.map_err(refused)?);
            claims.push(line.map_err(|_| damaged(CLAIMS))?.into());
        }
        fs::remove_file(&path).map_err(refused)?;
        if claims.len() as u64 != header.claims {
            return Err(damaged(CLAIMS));
        }
        Ok(Unpacked { header, claims })
    }

    /// Returns whether the archive may contain a file of this path.
    fn belongs(&self, path: &str) -> bool {
        if [self.kind.main(), CLAIMS, CONTENTS].contains(&path) {
            return true;
        }
        let mut components = Path::new(path).components();
        let top = components.next();
        let is_known = self.kind.directories().iter().any(|dir| top == Some(Component::Normal(dir.as_ref())));
        let mut below = components.peekable();
        is_known
            && below.peek().is_some()
            && below.all(|component| matches!(component, Component::Normal(_)))
            && !path.contains(['\0', '\\'])
            && !path.contains("//")
            && !path.contains("/./")
            && !path.ends_with('/')
    }

    fn broken(&self, error: &io::Error) -> BackupFault {
        if self.header.is_some() { broken_after_header(error) } else { broken(error) }
    }

    fn refused(&self, source: io::Error) -> BackupFault {
        BackupFault::Io { path: self.into.to_owned(), source }
    }
}

fn broken(error: &io::Error) -> BackupFault {
    match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::Other => {
            BackupFault::NotABackup
        }
        _ => broken_after_header(error),
    }
}

fn broken_after_header(error: &io::Error) -> BackupFault {
    match error.kind() {
        ErrorKind::UnexpectedEof => BackupFault::CutOff,
        _ => BackupFault::Damaged { entry: None },
    }
}

fn damaged(entry: &str) -> BackupFault {
    BackupFault::Damaged { entry: Some(entry.to_owned()) }
}

/// Counts the bytes read.
struct Counted<R, P> {
    from: R,
    bytes: u64,
    progress: P,
}

impl<R: Read, P: FnMut(u64)> Read for Counted<R, P> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.bytes += read as u64;
        (self.progress)(self.bytes);
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
