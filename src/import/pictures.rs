//! Pictures that rows name: where pages will ask for them, and their files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::dump::DumpError;
use super::fields::Unfit;
use super::remote::{Fetched, MOST, Why};
use crate::language::Both;
use crate::mall::picture_path;

/// Names that the report gives.
const EXAMPLES: usize = 5;
/// A picture's file, by the end of its name: by it the mall tells browsers what it is.
const ENDINGS: [&str; 6] = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"];
/// An address that is longer is asked for on this mall alone.
const LONGEST_ADDRESS: usize = 255;

/// What became of the pictures.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PictureCounts {
    /// Files that were copied.
    pub brought: u64,
    /// Times that a row names one whose file is not at hand: a drawn one is shown.
    pub missing: u64,
    /// Some of those.
    pub missing_names: BTreeSet<String>,
    /// Times that a row names one of another address.
    pub remote: u64,
    /// Pictures of other addresses that were fetched.
    pub fetched: u64,
    /// Those that were not, by reason: how many, and the first few addresses.
    pub not_fetched: BTreeMap<Both, (u64, Vec<String>)>,
    /// Files that are no picture: not copied.
    pub no_pictures: BTreeSet<String>,
    /// Times that a name could not be one of a file here: left out.
    pub unusable: u64,
}

/// Brings pictures into a mall.
pub(super) struct Pictures {
    from: Option<PathBuf>,
    uploads: Option<PathBuf>,
    /// By address, where pages find what was fetched.
    fetched: BTreeMap<String, String>,
    /// Addresses that rows name, if they are to be gathered and nothing else.
    gathered: Option<BTreeSet<String>>,
    pub(super) counts: PictureCounts,
}

impl Pictures {
    /// `from` is a front end's folder of pictures, or what that is in.
    pub(super) fn new(from: Option<&Path>, uploads: Option<PathBuf>) -> Self {
        let from = from.map(|dir| {
            let inner = dir.join("imgs");
            if inner.is_dir() { inner } else { dir.to_owned() }
        });
        let counts = PictureCounts::default();
        Self { from, uploads, fetched: BTreeMap::new(), gathered: None, counts }
    }

    /// With what was fetched of other addresses.
    pub(super) fn with(self, fetched: Fetched) -> Self {
        let reason = |(why, addresses): (Why, BTreeSet<String>)| {
            // A stranger's text on the operator's terminal.
            let shown = |address: &String| address.escape_debug().take(100).collect();
            let examples = addresses.iter().take(EXAMPLES).map(shown).collect();
            (why.words(), (addresses.len() as u64, examples))
        };
        let not_fetched = fetched.failed.into_iter().map(reason).collect();
        let counts = PictureCounts { fetched: fetched.paths.len() as u64, not_fetched, ..self.counts };
        Self { fetched: fetched.paths, counts, ..self }
    }

    /// One that only gathers addresses.
    pub(super) fn gathering() -> Self {
        Self { gathered: Some(BTreeSet::new()), ..Self::new(None, None) }
    }

    /// The addresses that rows have named, at most [`MOST`].
    pub(super) fn gathered(self) -> BTreeSet<String> {
        self.gathered.unwrap_or_default()
    }

    /// A comma-separated list, without what is empty in it.
    pub(super) fn list(&mut self, names: &str) -> Result<String, Unfit> {
        let mut kept = Vec::new();
        for name in names.split(',') {
            let name = self.one(name)?;
            if !name.is_empty() {
                kept.push(name);
            }
        }
        Ok(kept.join(","))
    }

    /// One picture: the path that pages are to ask for; `""` if there is none.
    pub(super) fn one(&mut self, name: &str) -> Result<String, Unfit> {
        let name = name.trim();
        if name.is_empty() {
            return Ok(String::new());
        }
        if let Some(path) = self.fetched.get(name) {
            return Ok(path.clone());
        }
        let is_elsewhere = picture_path::elsewhere(name).is_some();
        if is_elsewhere && self.gathered.as_ref().is_some_and(|gathered| gathered.len() < MOST) {
            self.gathered.get_or_insert_default().insert(name.to_owned());
            return Ok(String::new());
        }
        let path = match is_elsewhere {
            true => {
                self.counts.remote += 1;
                picture_path::on_this_mall(name).into_owned()
            }
            false if name.starts_with('/') => name.to_owned(),
            false => format!("/{name}"),
        };
        let file = path.strip_prefix("/imgs").filter(|rest| rest.starts_with('/')).unwrap_or(&path);
        let Some(file) = plain(file) else {
            self.counts.unusable += 1;
            return Ok(String::new());
        };
        let is_here = self.bring(&file).map_err(|error| Unfit::File(DumpError::Io(error)))?;
        // Another front end shows the address as it did before; own pages ask for the path.
        let keeps_address = is_elsewhere && !is_here && !name.contains(odd) && name.len() <= LONGEST_ADDRESS;
        Ok(if keeps_address { name.to_owned() } else { path })
    }

    /// Copies a file, unless it is there. Returns whether it is there now.
    fn bring(&mut self, file: &str) -> io::Result<bool> {
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
        let ends_well = ENDINGS.iter().any(|ending| file.to_ascii_lowercase().ends_with(ending));
        if !ends_well || !is_picture(&from)? {
            self.counts.no_pictures.insert(file.to_owned());
            return Ok(false);
        }
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        // Moved to its place when it is whole: a process that is killed leaves no half of a picture there.
        let part = uploads.join(".part");
        fs::copy(&from, &part)?;
        fs::rename(&part, &to)?;
        self.counts.brought += 1;
        Ok(true)
    }

    /// What was brought is on the disk when this answers.
    pub(super) fn sync(&self) -> io::Result<()> {
        if let Some(uploads) = self.uploads.as_ref().filter(|_| self.counts.brought + self.counts.fetched > 0)
        {
            rustix::fs::syncfs(File::open(uploads)?)?;
        }
        Ok(())
    }
}

/// What could break a page that writes it into an attribute.
fn odd(c: char) -> bool {
    c.is_control() || matches!(c, '<' | '>' | '"' | '\'' | '\\')
}

/// The path as a file below a folder, without doubled slashes; `None` if any part of it leads elsewhere or could break a
/// page that writes it into an attribute.
fn plain(path: &str) -> Option<String> {
    let odd = |c: char| odd(c) || matches!(c, '?' | '#');
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let fits = |part: &&str| !part.starts_with('.') && part.len() <= 255 && !part.contains(odd);
    (!parts.is_empty() && parts.iter().all(fits)).then(|| parts.join("/"))
}

/// Whether a file begins like a picture: its name says little.
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
