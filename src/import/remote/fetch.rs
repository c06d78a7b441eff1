//! Fetches the pictures of many addresses, some at once.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{PictureKind, hex};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::client::Client;
use super::outcome::{FetchError, Fetched};
use crate::mall::writing::pictures::{ending, reencode_picture};

/// Concurrent downloads; a load that a server does not notice.
const DOWNLOADS_MAX: usize = 8;
/// Concurrent re-encodings: each keeps a core busy, and takes up to 160 MB.
const DRAWINGS_MAX: usize = 2;
/// Time limit for all pictures together.
const TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// Upload subdirectory for fetched pictures, separate from pictures copied along with the dump.
const FOLDER: &str = "fetched";

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
    let client = Client::of_internet().ok_or_else(|| io::Error::other("cannot set up TLS"))?;
    fetch_by(client, addresses, uploads, progress).await
}

pub(super) async fn fetch_by(
    client: Client,
    addresses: BTreeSet<String>,
    uploads: &Path,
    mut progress: impl FnMut(usize, usize),
) -> io::Result<Fetched> {
    let (until, turns) = (Instant::now() + TIMEOUT, Arc::new(Semaphore::new(DRAWINGS_MAX)));
    let count = addresses.len();
    let mut to_do = addresses.into_iter();
    let mut fetched = Fetched::default();
    let mut under_way = JoinSet::new();
    let mut done = 0;
    loop {
        while under_way.len() < DOWNLOADS_MAX
            && let Some(address) = to_do.next()
        {
            let (client, turns) = (client.clone(), Arc::clone(&turns));
            under_way.spawn(async move {
                let one = tokio::time::timeout_at(until, one(&client, &address, &turns)).await;
                (one.unwrap_or(Err(FetchError::TimeUp)), address)
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

async fn one(
    client: &Client,
    address: &str,
    turns: &Semaphore,
) -> Result<(PictureKind, Vec<u8>), FetchError> {
    let file = client.get(address).await?;
    let _turn = turns.acquire().await.map_err(|_| FetchError::TimeUp)?;
    let drawn = tokio::task::spawn_blocking(move || reencode_picture(&file)).await;
    drawn.ok().flatten().ok_or(FetchError::NoPicture)
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
