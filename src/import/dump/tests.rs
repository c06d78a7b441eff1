//! What the reader makes of the dialects in the wild.

use super::*;

const SHOPS: &[Wanted] = &[
    Wanted { name: "tb_shop", columns: &["id", "name", "sold", "created"] },
    Wanted { name: "tb_user", columns: &["id"] },
];

/// The table's form, which most cases begin with.
const MADE: &str = "CREATE TABLE `tb_shop` (`id` bigint NOT NULL, `name` varchar(128), `extra` json,
    `sold` int(10) unsigned ZEROFILL, created timestamp NULL, PRIMARY KEY (`id`), KEY k (`name`(10), sold)) ENGINE=InnoDB;\n";

fn read(text: &str) -> Result<(Vec<Row>, Unknown), DumpError> {
    let mut dump = Dump::new(text.as_bytes(), SHOPS);
    let mut rows = Vec::new();
    while let Some(row) = dump.next_row()? {
        rows.push(row);
    }
    Ok((rows, dump.unknown().clone()))
}

/// Each row as its values, written shortly.
fn values(text: &str) -> Vec<String> {
    let (rows, _) = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let value = |cell: &Cell| match &cell.value {
        Value::Missing => "-".to_owned(),
        Value::Null => "NULL".to_owned(),
        Value::Number(number) => number.clone(),
        Value::Text(text) => format!("'{}'", String::from_utf8_lossy(text)),
        Value::Bytes(bytes) => format!("{bytes:?}"),
        Value::Expression => "?".to_owned(),
    };
    rows.iter().map(|row| row.cells.iter().map(value).collect::<Vec<_>>().join(" ")).collect()
}

fn after_made(insert: &str) -> Vec<String> {
    values(&format!("{MADE}{insert}"))
}

fn error(text: &str) -> String {
    read(text).expect_err(text).to_string()
}

#[test]
fn columns_are_known_by_the_tables_form_or_by_the_inserts_list() {
    assert_eq!(
        after_made("INSERT INTO tb_shop VALUES (1,'a','{}',0000000012,NULL);"),
        ["1 'a' 0000000012 NULL"]
    );
    assert_eq!(
        after_made("INSERT INTO `hmdp`.`tb_shop` (`sold`, NAME, `ID`) VALUES (5,'a',1);"),
        ["1 'a' 5 -"]
    );
    assert_eq!(values("insert into TB_SHOP(name,id) value ('a',1)  ;"), ["1 'a' - -"]);
    assert!(
        error("INSERT INTO tb_shop VALUES (1);")
            .contains("line 1, column 1: the columns of tb_shop are named neither")
    );
}

#[test]
fn rows_come_from_inserts_of_every_kind() {
    assert_eq!(
        after_made("INSERT IGNORE INTO tb_shop (id) VALUES (1),(2) , (3);"),
        ["1 - - -", "2 - - -", "3 - - -"]
    );
    let (rows, _) = read("REPLACE INTO tb_shop (id) VALUES (1); INSERT tb_shop (id) VALUES (2);").unwrap();
    assert_eq!(rows.iter().map(|row| row.replaces).collect::<Vec<_>>(), [true, false]);
    assert_eq!(
        after_made(
            "INSERT INTO tb_shop PARTITION (p0, p1) (id) VALUES (1) ON DUPLICATE KEY UPDATE name = VALUES(name);"
        ),
        ["1 - - -"]
    );
    assert_eq!(after_made("INSERT INTO tb_shop () VALUES ();"), ["- - - -"]);
}

#[test]
fn values_of_every_kind_are_read() {
    let row = r"INSERT INTO tb_shop (id, name, sold) VALUES";
    for (written, read) in [
        ("(-1, 'it''s \\'a\\'', +2)", "-1 'it's 'a'' 2 -"),
        ("(0x10, x'61', b'11')", "[16] [97] [3] -"),
        ("(1, _utf8mb4'a', 2)", "1 'a' 2 -"),
        ("(1, _utf8mb4 x'61', 2)", "1 'a' 2 -"),
        ("(1, _binary '\u{1}', 2)", "1 [1] 2 -"),
        ("(1, N'a', TRUE)", "1 'a' 1 -"),
        ("(1, DEFAULT, 1.5e+3)", "1 - 1.5e+3 -"),
        ("(1, now(), CAST('a,)(' AS CHAR(3)))", "1 ? ? -"),
        ("(1, CURRENT_TIMESTAMP, null)", "1 ? NULL -"),
        ("(1, \"a;b\", /* c */ 2 -- d\n)", "1 'a;b' 2 -"),
        ("(1, 'a\r\nb\u{1F356}', 2)", "1 'a\r\nb\u{1F356}' 2 -"),
    ] {
        assert_eq!(after_made(&format!("{row} {written};")), [read], "{written}");
    }
}

#[test]
fn whatever_else_a_dump_holds_is_passed() {
    let noise = "\u{feff}-- MySQL dump 10.13  Distrib 8.0\r\n/*M!999999\\- enable the sandbox mode */ \r\n\
        /*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;\r\nUSE `hmdp`;\r\nDROP TABLE IF EXISTS `tb_shop`;\r\n";
    let partitions = "/*!50100 PARTITION BY HASH (`id`)\n PARTITIONS 4 */;\n";
    let made = MADE.replace(" ENGINE=InnoDB;\n", partitions);
    let rows = "LOCK TABLES `tb_shop` WRITE;\n/*!40000 ALTER TABLE `tb_shop` DISABLE KEYS */;\nset autocommit=0;\n\
        INSERT INTO `tb_shop` VALUES (1,'a;b',NULL,2,NULL);\n/*!40000 ALTER TABLE `tb_shop` ENABLE KEYS */;\nUNLOCK TABLES;\n\
        DELIMITER ;;\n/*!50003 CREATE TRIGGER t BEFORE INSERT ON tb_shop FOR EACH ROW BEGIN SET NEW.sold = 1; DELETE FROM tb_shop; END */;;\n\
        DELIMITER ;\nCREATE VIEW v AS SELECT 1;\nDELETE FROM other WHERE id = 1;\n-- Dump completed on 2026-11-21\n";
    assert_eq!(values(&format!("{noise}{made}{rows}")), ["1 'a;b' 2 NULL"]);
}

#[test]
fn what_is_not_wanted_is_named_once() {
    let others = "CREATE TABLE tb_other (a int); INSERT INTO tb_other VALUES (1,'a;'),(2,x'zz'); INSERT INTO more VALUES (1);";
    // Even a literal that is none does not matter in a table that nobody wants, as long as its end can be told.
    let others = others.replace("x'zz'", "'zz'");
    let (rows, unknown) =
        read(&format!("{others}{MADE}INSERT INTO tb_shop (id, extra2) VALUES (1, 2);")).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(unknown.tables.into_iter().collect::<Vec<_>>(), ["more", "tb_other"]);
    assert_eq!(unknown.columns.into_iter().collect::<Vec<_>>(), ["tb_shop.extra", "tb_shop.extra2"]);
}

#[test]
fn instants_are_told_the_zone_that_mysqldump_writes_them_in() {
    let offset = |before: &str, insert: &str| {
        let (rows, _) = read(&format!("{before}{insert}")).unwrap();
        rows[0].cells[3].offset_s
    };
    let insert = "INSERT INTO tb_shop VALUES (1,'a',NULL,1,'2026-01-01 00:00:00');";
    let utc = "/*!40103 SET TIME_ZONE='+00:00' */;";
    assert_eq!(offset(MADE, insert), None);
    assert_eq!(offset(&format!("{utc}{MADE}"), insert), Some(0));
    assert_eq!(offset(&format!("SET time_zone = \"-03:30\";{MADE}"), insert), Some(-12_600));
    assert_eq!(offset(&format!("{utc}{}", MADE.replace("timestamp", "datetime")), insert), None);
    assert_eq!(offset(&format!("{utc}SET TIME_ZONE=@OLD_TIME_ZONE;{MADE}"), insert), None);
    for none in ["SYSTEM", "+108088023:00", "+08:60", "08:00", "+0x:00"] {
        assert_eq!(offset(&format!("SET TIME_ZONE='{none}';{MADE}"), insert), None, "{none}");
    }
    assert_eq!(offset(&format!("{utc}SET @OLD=@@TIME_ZONE;{MADE}"), insert), Some(0));
    assert_eq!(offset(utc, "INSERT INTO tb_shop (created) VALUES ('x');"), Some(0));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, said) in [
        ("", "this is no SQL dump but an empty file"),
        ("\u{1f}\u{8b}", "begins no statement"),
        ("%PDF-1.7", "line 1, column 1: this begins no statement of a MySQL dump"),
        ("<html>", "line 1, column 1: this begins no statement"),
        ("\n  PRAGMA foreign_keys=OFF;", "line 2, column 3: `PRAGMA` begins no statement of a MySQL dump"),
        ("SET a = 1;\nCOPY public.tb_shop FROM stdin;", "line 2, column 1: `COPY` begins no statement"),
        ("SET a = 1", "line 1, column 1: the file ends inside the statement that begins here: it is cut off"),
        ("\nINSERT INTO tb_shop (id) VALUES (1),", "line 2, column 1: the file ends inside the statement"),
        ("INSERT INTO tb_shop (id) VALUES (1)", "cut off"),
        (
            "INSERT INTO tb_shop (id) VALUES (1, 2);",
            "line 1, column 33: a row of tb_shop with more values than its 1 columns",
        ),
        (
            "INSERT INTO tb_shop (id, name) VALUES (1, 'a'),\n (2);",
            "line 2, column 2: a row of tb_shop with fewer values than its 2 columns",
        ),
        (
            "INSERT INTO tb_shop (id) VALUES ('a",
            "line 1, column 34: the file ends inside the text that begins here",
        ),
        (
            "INSERT INTO tb_shop (id) VALUES (1 2);",
            "line 1, column 36: a comma or a bracket is expected here",
        ),
        ("INSERT INTO tb_shop (id) VALUES (;", "a value is expected here"),
        ("INSERT INTO tb_shop (id) SELECT 1;", "rows of tb_shop are expected here"),
        (
            "INSERT INTO tb_shop (id) VALUES (x'g');",
            "column 34: a hexadecimal or binary value with other characters",
        ),
        ("UPDATE tb_shop SET sold = 1;", "UPDATE changes rows of tb_shop"),
        ("DELIMITER ;;\nCREATE TRIGGER", "line 1, column 1: the file ends inside the statement"),
        ("-- MySQL dump 10\nSET a = 1;", "the dump is cut off: its last line should be `-- Dump completed`"),
        (
            "/*\n Navicat */SET FOREIGN_KEY_CHECKS = 0;",
            "the dump is cut off: `SET FOREIGN_KEY_CHECKS = 1` should come last",
        ),
    ] {
        let error = error(text);
        assert!(error.contains(said), "{text:?}: {error}");
    }
    assert!(
        error(&format!("{MADE}{MADE}")).contains("tb_shop is made a second time, after line 1, column 1")
    );
    let whole = "/* Navicat */SET FOREIGN_KEY_CHECKS = 0; SET FOREIGN_KEY_CHECKS = 1;";
    assert!(read(whole).is_ok());
}

#[test]
fn files_of_other_kinds_are_known_by_their_first_bytes() {
    for (bytes, said) in [
        (&[0x1f, 0x8b, 8, 0][..], "gzip"),
        (b"PK\x03\x04", "zip"),
        (b"\xff\xfeS\0", "UTF-16"),
        (b"BZh9", "compressed"),
    ] {
        let error = Dump::new(bytes, SHOPS).next_row().unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_statement_of_several_megabytes_in_one_line_is_read_row_by_row() {
    let row = "(1,'十里洋场的一家小馆子','{}',5,NULL),";
    let text = format!("{MADE}INSERT INTO tb_shop VALUES {}", row.repeat(150_000));
    let text = format!("{};", text.trim_end_matches(','));
    assert!(text.len() > 5_000_000);
    let mut dump = Dump::new(text.as_bytes(), SHOPS);
    let mut rows = 0;
    while let Some(row) = dump.next_row().unwrap() {
        assert_eq!(row.at.line, 3);
        rows += 1;
    }
    assert_eq!((rows, dump.passed()), (150_000, text.len() as u64));
}
