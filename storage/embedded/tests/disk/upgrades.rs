//! Upgrades of a directory: the mall as it was is kept, put back when asked, and put back unasked if the
//! upgrade fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mallbox_storage::{OpenError, UpgradeState};
use mallbox_storage_embedded::{EmbeddedOptions, downgrade, open, put_back};
use rusqlite::Connection;

use crate::left::{has_everything, left};

/// Returns the content of each file of the mall, without those of no state in particular.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    fn add(dir: &Path, name: &str, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(dir).unwrap() {
            let (path, own) = (entry.as_ref().unwrap().path(), entry.unwrap().file_name());
            let name = format!("{name}/{}", own.to_str().unwrap());
            if path.is_dir() {
                add(&path, &name, found);
            } else {
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    add(dir, "", &mut found);
    found
        .retain(|name, _| !name.starts_with("/before-") && !["/lock", "/mall.sqlite-shm"].contains(&&**name));
    found
}

fn asides(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut asides: Vec<String> = names.filter(|name| name.contains("before-")).collect();
    asides.sort();
    asides
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgraded_mall_can_be_as_it_was_again_and_upgraded_again() {
    let closed = left().await;
    downgrade(closed.dir()).await.unwrap();
    fs::create_dir(closed.dir().join("uploads")).unwrap();
    fs::write(closed.dir().join("uploads/1.png"), "a picture").unwrap();
    let before = files(closed.dir());
    let world = closed.open().await;
    has_everything(&world).await;
    let closed = world.closed().await;
    assert_eq!(asides(closed.dir()), ["before-upgrade-1"]);
    assert_ne!(files(closed.dir()), before);

    let back = put_back(closed.dir()).unwrap().unwrap();
    assert_eq!((back.schema, back.upgraded), (33, Some(closed.dir().join("before-restore-1"))));
    assert_eq!(files(closed.dir()), before);
    let world = closed.open().await;
    has_everything(&world).await;
    let closed = world.closed().await;
    assert_eq!(asides(closed.dir()), ["before-restore-1", "before-upgrade-1", "before-upgrade-2"]);
    // A directory of today is not copied.
    let closed = closed.open().await.closed().await;
    assert_eq!(asides(closed.dir()).len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mall_whose_upgrade_fails_is_as_it_was() {
    let closed = left().await;
    downgrade(closed.dir()).await.unwrap();
    // In the way of the last of the migrations.
    let database = Connection::open(closed.dir().join("mall.sqlite")).unwrap();
    database.execute_batch("CREATE TABLE cash_reports (mine)").unwrap();
    drop(database);
    let before = files(closed.dir());
    for _ in 0..2 {
        let Err(refused) = open(EmbeddedOptions::new(closed.dir())).await else { panic!("upgraded") };
        assert!(
            matches!(&refused, OpenError::UpgradeFailed { state: UpgradeState::Undone, .. }),
            "{refused}"
        );
        let words = refused.to_string();
        assert!(words.contains("cash_reports") && words.contains("The mall is as it was before"), "{words}");
        assert_eq!(files(closed.dir()), before);
        assert_eq!(asides(closed.dir()), [""; 0]);
    }
    let database = Connection::open(closed.dir().join("mall.sqlite")).unwrap();
    database.execute_batch("DROP TABLE cash_reports").unwrap();
    drop(database);
    has_everything(&closed.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mall_that_was_never_upgraded_has_nothing_to_put_back() {
    let closed = left().await;
    assert_eq!(put_back(closed.dir()).unwrap(), None);
    has_everything(&closed.open().await).await;
}
