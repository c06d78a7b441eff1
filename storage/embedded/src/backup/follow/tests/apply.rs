//! Application of changed pages to a copy, and its finishing.

use std::collections::BTreeMap;
use std::io;

use super::*;
use crate::backup::copy_database;

#[test]
fn copy_shrinks_and_grows_with_the_database() {
    let site = Site::make();
    (0..40).for_each(|_| site.commit(10_000));
    let mut copy = site.follow();
    let full = fs::metadata(copy.file()).unwrap().len();
    site.writer.execute_batch("DELETE FROM rows WHERE id > 3").unwrap();
    shrink(&site.writer, u32::MAX >> 1);
    copy.next().unwrap();
    copy.assert_equals(&site.writer);
    let shrunk = fs::metadata(copy.file()).unwrap().len();
    assert!(shrunk < full / 4, "{full} bytes became {shrunk}");
    // Both in one call.
    (0..60).for_each(|_| site.commit(10_000));
    site.writer.execute_batch("VACUUM; DELETE FROM rows WHERE id > 9; VACUUM").unwrap();
    (0..5).for_each(|_| site.commit(10_000));
    copy.next().unwrap();
    copy.assert_equals(&site.writer);
    assert_eq!(rows(&copy.finished()), 9 + 5);
}

#[test]
fn finished_copy_knows_no_log_and_takes_no_changes() {
    let site = Site::make();
    let mut copy = site.follow();
    site.writer
        .execute_batch("INSERT INTO meta VALUES ('stop', 'running'), ('starts', '7'), ('log_acked', '12')")
        .unwrap();
    let Followed::Pages(changes) = copy.follower.next().unwrap() else { panic!("no changes") };
    apply(&copy.file(), &changes).unwrap();
    let meta = |conn: &Connection| -> Vec<(String, String)> {
        let mut meta = conn.prepare("SELECT name, value FROM meta ORDER BY name").unwrap();
        meta.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(meta(&copy.finished()), [("stop".to_owned(), "clean".to_owned())]);
    let finished = copy.dir.path().join("finished");
    let refused = apply(&finished, &changes).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    assert!(refused.to_string().contains("finished"), "{refused}");
}

#[test]
fn copy_of_the_database_alone_is_finished() {
    let site = Site::make();
    site.writer.execute_batch("INSERT INTO meta VALUES ('starts', '7')").unwrap();
    let to = site.path().join("copy");
    copy_database(site.path(), &to, |_| {}).unwrap();
    assert_eq!(fs::read(&to).unwrap()[18..20], [1, 1]);
    let starts: i64 = Connection::open(&to)
        .unwrap()
        .query_row("SELECT count(*) FROM meta WHERE name = 'starts'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(starts, 0);
}

#[test]
fn repeated_application_changes_nothing() {
    let site = Site::make();
    let mut copy = site.follow();
    site.commit(70_000);
    let Followed::Pages(changes) = copy.follower.next().unwrap() else { panic!("no changes") };
    (0..2).for_each(|_| apply(&copy.file(), &changes).unwrap());
    copy.assert_equals(&site.writer);
}

#[test]
fn changes_that_are_none_of_the_copy_leave_the_copy_as_it_is() {
    let site = Site::make();
    let copy = site.follow();
    let before = fs::read(copy.file()).unwrap();
    let page = |number, bytes| BTreeMap::from([(number, vec![7; bytes])]);
    let cases = [
        (512, 9, page(1, 512)),
        (512, 9, BTreeMap::new()),
        (4_096, 9, page(0, 4_096)),
        (4_096, 9, page(10, 4_096)),
        (4_096, 9, page(2, 4_095)),
        (4_096, 0, BTreeMap::new()),
    ];
    for (page_bytes, database_pages, pages) in cases {
        let changes = ChangedPages { page_bytes, database_pages, pages };
        let refused = apply(&copy.file(), &changes).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData, "{refused}");
        assert_eq!(fs::read(copy.file()).unwrap(), before);
    }
    let empty = copy.dir.path().join("empty");
    fs::write(&empty, "").unwrap();
    let changes = ChangedPages { page_bytes: 4_096, database_pages: 1, pages: BTreeMap::new() };
    assert_eq!(apply(&empty, &changes).unwrap_err().kind(), io::ErrorKind::InvalidData);
}
