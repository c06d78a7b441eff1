//! Pictures named by rows: the paths requested by pages, and the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::dump::DumpError;
use super::fields::RowError;
use super::remote::{ADDRESSES_MAX, FetchError, Fetched};
use crate::language::Bilingual;
use crate::mall::base::picture_path;

/// Examples listed in the report.
const EXAMPLES: usize = 5;
/// Accepted file name extensions; the mall derives the `Content-Type` from the extension.
const EXTENSIONS: [&str; 6] = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"];
/// Longest remote address kept in a row. A longer one is replaced by a path on this mall.
const ADDRESS_MAX_BYTES: usize = 255;

/// Counts of imported pictures.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PictureCounts {
    /// Files copied into the mall.
    pub brought: u64,
    /// References to a missing file; the mall shows a drawn picture instead.
    pub missing: u64,
    /// Examples of missing files.
    pub missing_names: BTreeSet<String>,
    /// References to remote addresses.
    pub remote: u64,
    /// Remote pictures fetched.
    pub fetched: u64,
    /// Remote pictures not fetched, by reason: number and first addresses.
    pub not_fetched: BTreeMap<Bilingual, (u64, Vec<String>)>,
    /// Files that are no pictures by their content; not copied.
    pub no_pictures: BTreeSet<String>,
    /// References left out because the name cannot be a file of the mall.
    pub unusable: u64,
}

/// Copies pictures into a mall.
pub(super) struct Pictures {
    from: Option<PathBuf>,
    uploads: Option<PathBuf>,
    /// Paths of fetched pictures, by remote address.
    fetched: BTreeMap<String, String>,
    /// Collected remote addresses, if only collecting.
    gathered: Option<BTreeSet<String>>,
    pub(super) counts: PictureCounts,
}

impl Pictures {
    /// Creates an importer of pictures. `from` is a front end's picture directory, or its parent.
    pub(super) fn new(from: Option<&Path>, uploads: Option<PathBuf>) -> Self {
        let from = from.map(|dir| {
            let inner = dir.join("imgs");
            if inner.is_dir() { inner } else { dir.to_owned() }
        });
        let counts = PictureCounts::default();
        Self { from, uploads, fetched: BTreeMap::new(), gathered: None, counts }
    }

    /// Adds the result of fetching remote pictures.
    pub(super) fn with(self, fetched: Fetched) -> Self {
        let reason = |(why, addresses): (FetchError, BTreeSet<String>)| {
            // Untrusted text, escaped for the operator's terminal.
            let shown = |address: &String| address.escape_debug().take(100).collect();
            let examples = addresses.iter().take(EXAMPLES).map(shown).collect();
            (why.words(), (addresses.len() as u64, examples))
        };
        let not_fetched = fetched.failed.into_iter().map(reason).collect();
        let counts = PictureCounts { fetched: fetched.paths.len() as u64, not_fetched, ..self.counts };
        Self { fetched: fetched.paths, counts, ..self }
    }

    /// Creates a collector of remote addresses, without copying.
    pub(super) fn gathering() -> Self {
        Self { gathered: Some(BTreeSet::new()), ..Self::new(None, None) }
    }

    /// Returns the collected addresses, at most [`ADDRESSES_MAX`].
    pub(super) fn gathered(self) -> BTreeSet<String> {
        self.gathered.unwrap_or_default()
    }

    /// Converts a comma-separated list, dropping empty entries.
    pub(super) fn list(&mut self, names: &str) -> Result<String, RowError> {
        let mut kept = Vec::new();
        for name in names.split(',') {
            let name = self.one(name)?;
            if !name.is_empty() {
                kept.push(name);
            }
        }
        Ok(kept.join(","))
    }

    /// Converts one reference to the path that pages request; `""` if there is no usable picture.
    pub(super) fn one(&mut self, name: &str) -> Result<String, RowError> {
        let name = name.trim();
        if name.is_empty() {
            return Ok(String::new());
        }
        if let Some(path) = self.fetched.get(name) {
            return Ok(path.clone());
        }
        let is_elsewhere = picture_path::external_address(name).is_some();
        if is_elsewhere && self.gathered.as_ref().is_some_and(|gathered| gathered.len() < ADDRESSES_MAX) {
            self.gathered.get_or_insert_default().insert(name.to_owned());
            return Ok(String::new());
        }
        let path = match is_elsewhere {
            true => {
                self.counts.remote += 1;
                picture_path::to_local_paths(name).into_owned()
            }
            false if name.starts_with('/') => name.to_owned(),
            false => format!("/{name}"),
        };
        let file = path.strip_prefix("/imgs").filter(|rest| rest.starts_with('/')).unwrap_or(&path);
        let Some(file) = safe_path(file) else {
            self.counts.unusable += 1;
            return Ok(String::new());
        };
        let is_here = self.copy(&file).map_err(|error| RowError::File(DumpError::Io(error)))?;
        // Other front ends keep showing the remote address; the mall's own pages request the path.
        let keeps_address =
            is_elsewhere && !is_here && !name.contains(odd) && name.len() <= ADDRESS_MAX_BYTES;
        Ok(if keeps_address { name.to_owned() } else { path })
    }

    /// Copies a file unless present. Returns whether the file exists in the mall afterwards.
    fn copy(&mut self, file: &str) -> io::Result<bool> {
        let to = self.uploads.as_ref().map(|dir| (dir, dir.join(file)));
        if to.as_ref().is_some_and(|(_, to)| to.exists()) {
            return Ok(true);
        }
        let from = self.from.as_ref().map(|dir| dir.join(file)).filter(|from| from.is_file());
        let (Some(from), Some((uploads, to))) = (from, to) else {
            self.counts.missing += 1;
            if self.counts.missing_names.len() < EXAMPLES {
                self.counts.missing_names.insert(file.to_owned());
            }
            return Ok(false);
        };
        let ends_well = EXTENSIONS.iter().any(|ending| file.to_ascii_lowercase().ends_with(ending));
        if !ends_well || !is_picture(&from)? {
            self.counts.no_pictures.insert(file.to_owned());
            return Ok(false);
        }
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        // Written to a temporary file and renamed: a killed process leaves no partial picture.
        let part = uploads.join(".part");
        fs::copy(&from, &part)?;
        fs::rename(&part, &to)?;
        self.counts.brought += 1;
        Ok(true)
    }

    /// Flushes copied pictures to disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        if let Some(uploads) = self.uploads.as_ref().filter(|_| self.counts.brought + self.counts.fetched > 0)
        {
            sync_file_system(uploads)?;
        }
        Ok(())
    }
}

/// Makes all files durable that are in the file system of a directory.
fn sync_file_system(dir: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(File::open(dir)?)?;
    #[cfg(not(target_os = "linux"))]
    {
        let _ = dir;
        rustix::fs::sync();
    }
    Ok(())
}

/// Returns whether the character could break out of an HTML attribute.
fn odd(c: char) -> bool {
    c.is_control() || matches!(c, '<' | '>' | '"' | '\'' | '\\')
}

/// Returns the path as a file below a folder, without doubled slashes; `None` if a component leaves the
/// folder or contains a character unsafe in an HTML attribute.
fn safe_path(path: &str) -> Option<String> {
    let odd = |c: char| odd(c) || matches!(c, '?' | '#');
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let fits = |part: &&str| !part.starts_with('.') && part.len() <= 255 && !part.contains(odd);
    (!parts.is_empty() && parts.iter().all(fits)).then(|| parts.join("/"))
}

/// Returns whether the file begins with a picture's magic bytes; its name proves little.
fn is_picture(file: &Path) -> io::Result<bool> {
    let mut begin = Vec::with_capacity(16);
    File::open(file)?.take(16).read_to_end(&mut begin)?;
    let is_webp = begin.starts_with(b"RIFF") && begin.get(8..12) == Some(b"WEBP");
    let begins: [&[u8]; 5] = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM"];
    Ok(is_webp || begins.iter().any(|magic| begin.starts_with(magic)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and so on";

    #[test]
    fn a_picture_keeps_its_path_or_its_address() {
        let dir = tempfile::TempDir::new().unwrap();
        let mut pictures = Pictures::new(None, Some(dir.path().to_owned()));
        for (named, asked) in [
            ("", ""),
            ("/imgs/a.png,,/imgs//b/c.jpg, ", "/imgs/a.png,/imgs//b/c.jpg"),
            ("https://p0.example/x/y.jpg?w=1#top", "https://p0.example/x/y.jpg?w=1#top"),
            ("http://p0.example/z.jpg,//q.example/1.png", "http://p0.example/z.jpg,//q.example/1.png"),
            ("https://p0.example/\"onerror=x", ""),
            ("types/ms.png", "/types/ms.png"),
            ("/imgs/../mall.sqlite,/a/.git/x.png,/a\"onerror=b", ""),
            ("javascript:alert(1)", "/javascript:alert(1)"),
        ] {
            assert_eq!(pictures.list(named).unwrap(), asked, "{named}");
        }
        assert_eq!((pictures.counts.remote, pictures.counts.unusable), (4, 4));
    }

    #[test]
    fn a_file_is_brought_if_it_is_a_picture_by_its_content() {
        let (from, to) = (tempfile::TempDir::new().unwrap(), tempfile::TempDir::new().unwrap());
        fs::create_dir_all(from.path().join("imgs/blogs/1")).unwrap();
        for (name, bytes) in [("good.png", PNG), ("page.png", b"<script>"), ("page.html", PNG)] {
            fs::write(from.path().join("imgs/blogs/1").join(name), bytes).unwrap();
        }
        let mut pictures = Pictures::new(Some(from.path()), Some(to.path().join("uploads")));
        let named = "/imgs/blogs/1/good.png,/imgs/blogs/1/good.png,/imgs/blogs/1/page.png,/imgs/blogs/1/page.html,/imgs/gone.png";
        assert_eq!(pictures.list(named).unwrap(), named);
        pictures.sync().unwrap();
        assert_eq!(fs::read(to.path().join("uploads/blogs/1/good.png")).unwrap(), PNG);
        let counts = &pictures.counts;
        assert_eq!((counts.brought, counts.missing, counts.no_pictures.len()), (1, 1, 2));
        assert!(!to.path().join("uploads/blogs/1/page.png").exists());
        assert!(!to.path().join("uploads/blogs/1/page.html").exists());
    }
}
