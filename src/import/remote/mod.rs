//! Remote pictures, fetched once into the mall: `mallbox import --fetch-pictures`.
//!
//! The addresses are untrusted. [`client`] connects to the public internet only (protection against SSRF),
//! and pictures are re-encoded like uploads, so that none of the original bytes are kept.

mod address;
mod client;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{PictureKind, hex};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::client::Client;
use crate::language::{Both, both};
use crate::mall::pictures::{draw_anew, ending};

/// Concurrent downloads; a load that a server does not notice.
const AT_ONCE: usize = 8;
/// Concurrent re-encodings: each keeps a core busy, and takes up to 160 MB.
const DRAWN_AT_ONCE: usize = 2;
/// Maximum number of addresses fetched. A mall of the original's size has some forty.
pub(super) const MOST: usize = 5_000;
/// Time limit for all pictures together.
const LONGEST: Duration = Duration::from_secs(30 * 60);
/// Upload subdirectory for fetched pictures, separate from pictures copied along with the dump.
const FOLDER: &str = "fetched";

/// Reason why a picture was not fetched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Why {
    /// Not an `http` or `https` address.
    NoAddress,
    /// The host name has no address.
    Unresolved,
    /// The host is in a private network.
    Private,
    /// Connection or TLS failed, or the connection broke.
    Unreachable,
    /// The server responded with a status other than 200.
    Refused,
    TooManyRedirects,
    TooLarge,
    TooSlow,
    /// The content is not a picture, or has too many pixels.
    NoPicture,
    /// The time limit for all pictures was reached.
    TimeUp,
}

impl Why {
    pub(super) fn words(self) -> Both {
        match self {
            Self::NoAddress => both("不是http或https网址", "no address of http or https"),
            Self::Unresolved => both("域名无法解析", "the host's name has no address"),
            Self::Private => {
                both("网址指向内网或本机，不予访问", "in a private network or on this machine: not asked")
            }
            Self::Unreachable => both("无法连接", "cannot be reached"),
            Self::Refused => both("服务器拒绝", "the server answers with another status than 200"),
            Self::TooManyRedirects => both("重定向次数过多", "too many redirects"),
            Self::TooLarge => both("超过5 MiB", "larger than 5 MiB"),
            Self::TooSlow => both("超过15秒", "took longer than 15 s"),
            Self::NoPicture => both("内容不是可用的图片", "no picture, or one of too many pixels"),
            Self::TimeUp => both("总时间超过30分钟", "all of them together took longer than 30 minutes"),
        }
    }
}

/// Result of fetching remote pictures.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fetched {
    /// Paths of fetched pictures in the mall, by address.
    pub(super) paths: BTreeMap<String, String>,
    /// Addresses not fetched, by reason. Sorted, since downloads finish in any order.
    pub(super) failed: BTreeMap<Why, BTreeSet<String>>,
}

/// Fetches pictures into an upload directory. Calls `progress` with the numbers of finished and total
/// pictures.
///
/// # Errors
/// If a picture cannot be written. Failed downloads are counted in [`Fetched`].
pub async fn fetch(
    addresses: BTreeSet<String>,
    uploads: &Path,
    progress: impl FnMut(usize, usize),
) -> io::Result<Fetched> {
    let client = Client::of_internet().ok_or_else(|| io::Error::other("TLS cannot be set up"))?;
    fetch_by(client, addresses, uploads, progress).await
}

async fn fetch_by(
    client: Client,
    addresses: BTreeSet<String>,
    uploads: &Path,
    mut progress: impl FnMut(usize, usize),
) -> io::Result<Fetched> {
    let (until, turns) = (Instant::now() + LONGEST, Arc::new(Semaphore::new(DRAWN_AT_ONCE)));
    let count = addresses.len();
    let mut to_do = addresses.into_iter();
    let mut fetched = Fetched::default();
    let mut under_way = JoinSet::new();
    let mut done = 0;
    loop {
        while under_way.len() < AT_ONCE
            && let Some(address) = to_do.next()
        {
            let (client, turns) = (client.clone(), Arc::clone(&turns));
            under_way.spawn(async move {
                let one = tokio::time::timeout_at(until, one(&client, &address, &turns)).await;
                (one.unwrap_or(Err(Why::TimeUp)), address)
            });
        }
        let Some(joined) = under_way.join_next().await else { return Ok(fetched) };
        let (drawn, address) = joined.map_err(io::Error::other)?;
        match drawn {
            Ok((kind, content)) => {
                let path = keep(uploads, &address, kind, &content)?;
                fetched.paths.insert(address, path);
            }
            Err(why) => {
                fetched.failed.entry(why).or_default().insert(address);
            }
        }
        done += 1;
        progress(done, count);
    }
}

async fn one(client: &Client, address: &str, turns: &Semaphore) -> Result<(PictureKind, Vec<u8>), Why> {
    let file = client.get(address).await?;
    let _turn = turns.acquire().await.map_err(|_| Why::TimeUp)?;
    let drawn = tokio::task::spawn_blocking(move || draw_anew(&file)).await;
    drawn.ok().flatten().ok_or(Why::NoPicture)
}

/// Writes a picture. Returns its path for pages, named by a hash of the whole address, since a query may be
/// significant.
fn keep(uploads: &Path, address: &str, kind: PictureKind, content: &[u8]) -> io::Result<String> {
    let name = hex(&Sha256::digest(address)[..16]);
    let path = format!("{FOLDER}/{}/{name}.{}", &name[..2], ending(kind));
    let to = uploads.join(&path);
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // Written to a temporary file and renamed: a killed process leaves no partial picture.
    let part = uploads.join(".part");
    std::fs::write(&part, content)?;
    std::fs::rename(&part, &to)?;
    Ok(format!("/imgs/{path}"))
}
