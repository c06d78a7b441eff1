//! Invalid dumps, and targets that cannot take a dump: each is refused with a sentence, and nothing is
//! changed.

use crate::world::{CommandOutput, Place, Served, dump};

#[test]
fn what_is_no_dump_is_refused_with_its_place() {
    let user = "CREATE TABLE tb_user (id bigint, phone varchar(11), nick_name varchar(32));\n";
    let rows: [(&[u8], &str); 12] = [
        (b"", "not an SQL dump, but an empty file"),
        (b"\x1f\x8b\x08\x00\x00\x00", "not an SQL dump, but a gzip file; decompress it first with gunzip"),
        (b"\xff\xfeS\x00E\x00T\x00", "UTF-16 text"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "line 1, column 1: "),
        (b"PRAGMA foreign_keys=OFF;", "line 1, column 1: no statement of a MySQL dump begins with `PRAGMA`"),
        (
            b"SET a = 1;\n\n  COPY public.tb_user FROM stdin;",
            "line 3, column 3: no statement of a MySQL dump begins with `COPY`",
        ),
        (b"CREATE TABLE t (id int);\nINSERT INTO t VALUES (1);", "not a dump of an hm-dianping database"),
        (
            b"@INSERT INTO tb_user VALUES (1,'13900000011'",
            "line 2, column 1: the file ends inside the statement",
        ),
        (
            b"@INSERT INTO tb_user VALUES (1,'13900000011','a'),\n(2,'139",
            "line 3, column 4: the file ends inside the string",
        ),
        (
            b"@INSERT INTO tb_user VALUES (1,'13900000011','\xb9\xc8\xd3\xea');\n-- Dump completed",
            "line 2, column 45: `nick_name` of tb_user is not UTF-8",
        ),
        (
            b"@INSERT INTO tb_user (id) VALUES (1);\n-- Dump completed",
            "line 2, column 33: a row of tb_user lacks the column `phone`",
        ),
        (
            b"@INSERT INTO tb_user VALUES (1);",
            "line 2, column 28: a row of tb_user has fewer values than the table's 3 columns",
        ),
    ];
    for (text, complaint) in rows {
        let place = Place::new();
        let text = match text.split_first() {
            Some((b'@', rest)) => [user.as_bytes(), rest].concat(),
            _ => text.to_vec(),
        };
        let file = place.write("dump.sql", text);
        let CommandOutput { code, out, err } = place.import(&file, &[]);
        assert_eq!((code, out.as_str()), (1, ""), "{err}");
        assert!(err.starts_with("mallbox: ") && err.contains("dump.sql: nothing was imported: "), "{err}");
        assert!(err.contains(complaint) && err.trim_end().lines().count() == 1, "{complaint}\n{err}");
        assert!(!place.mall().exists(), "{complaint}: a directory is left behind");
    }
}

#[test]
fn a_file_that_is_not_there_makes_no_directory() {
    let place = Place::new();
    let CommandOutput { code, err, .. } = place.import(&place.path("none.sql"), &[]);
    assert!(code == 1 && err.contains("cannot read") && err.contains("none.sql"), "{code} {err}");
    assert!(!place.mall().exists());
}

#[test]
fn an_import_wants_an_empty_mall() {
    let used = Place::new();
    used.imported(&dump("navicat.sql"), &[]);
    let foreign = Place::new();
    foreign.write("mall/letter.txt", "dear");
    let demo = Place::new();
    demo.write("mall/DEMO", "");
    let pictures = Place::new();
    for (place, more, complaint) in [
        (&used, &[][..], "already has data; import needs an empty mall: pass --data with a new directory"),
        (&foreign, &[], "holds no mall, but other files (letter.txt)"),
        (&demo, &[], "holds a demo; import needs an empty mall"),
        (&pictures, &["--imgs", "/none/such"], "--imgs /none/such: no such directory"),
        (&pictures, &["--zone", "Asia/Atlantis"], "unknown time zone Asia/Atlantis"),
    ] {
        let CommandOutput { code, err, .. } = place.import(&dump("mysqldump.sql"), more);
        assert!(code == 2 && err.contains(complaint), "{code} {err}");
    }
    used.verify();
    assert_eq!(used.rows("SELECT COUNT(*) FROM users"), ["3"]);
}

#[test]
fn a_running_mall_takes_nobody_in() {
    let place = Place::new();
    let served = Served::start(&place);
    let CommandOutput { code, err, .. } = place.import(&dump("navicat.sql"), &[]);
    assert!(
        code == 1 && err.contains("is in use by another mallbox") && err.contains("stop it"),
        "{code} {err}"
    );
    assert_eq!(served.stop(), 0);
    // A stopped mall without users may be filled; its time zone is kept.
    let CommandOutput { code, err, .. } = place.import(&dump("navicat.sql"), &["--zone", "Europe/Berlin"]);
    assert!(code == 1 && err.contains("the mall's time zone is Asia/Shanghai"), "{code} {err}");
    place.imported(&dump("navicat.sql"), &[]);
    place.verify();
}
