//! Tests of the SQL dialects in real dumps.

use super::*;

const SHOPS: &[Wanted] = &[
    Wanted { name: "tb_shop", columns: &["id", "name", "sold", "created"], needed: &["id", "name"] },
    Wanted { name: "tb_user", columns: &["id"], needed: &["id"] },
];

/// The usual `CREATE TABLE` of a case.
const MADE: &str = "CREATE TABLE `tb_shop` (`id` bigint NOT NULL, `name` varchar(128), `extra` json,
    `sold` int(10) unsigned ZEROFILL, created timestamp NULL, PRIMARY KEY (`id`), KEY k (`name`(10), sold)) ENGINE=InnoDB;\n";

fn read(text: &str) -> Result<(Vec<Row>, Unknown), DumpError> {
    let mut dump = Dump::new(text.as_bytes(), SHOPS);
    let mut rows = Vec::new();
    while let Some(row) = dump.next_row()? {
        rows.push(row);
    }
    match dump.end() {
        Some(End::Cut { at, what }) => Err(DumpError::Cut { at, what }),
        _ => Ok((rows, dump.unknown().clone())),
    }
}

/// Returns the values of each row in the second pass.
fn left(text: &str) -> Result<Vec<String>, DumpError> {
    let survey = Dump::new(text.as_bytes(), SHOPS).survey(|_| {})?;
    let mut dump = Dump::again(text.as_bytes(), SHOPS, &survey);
    let mut rows = Vec::new();
    while let Some(row) = dump.next_row()? {
        rows.push(written(&row));
    }
    Ok(rows)
}

/// Returns the values of each row, abbreviated.
fn values(text: &str) -> Vec<String> {
    let (rows, _) = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    rows.iter().map(written).collect()
}

fn written(row: &Row) -> String {
    let value = |cell: &Cell| match &cell.value {
        Value::Missing => "-".to_owned(),
        Value::Null => "NULL".to_owned(),
        Value::Number(number) => number.clone(),
        Value::Text(text) => format!("'{}'", String::from_utf8_lossy(text)),
        Value::Bytes(bytes) => format!("{bytes:?}"),
        Value::Expression => "?".to_owned(),
    };
    row.cells.iter().map(value).collect::<Vec<_>>().join(" ")
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
            .contains("line 1, column 1: neither a CREATE TABLE nor this INSERT names the columns")
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
    // Even an invalid literal is harmless in an unwanted table, as long as the end of the literal can be
    // found.
    let others = others.replace("x'zz'", "'zz'");
    let (rows, unknown) =
        read(&format!("{others}{MADE}INSERT INTO tb_shop (id, extra2) VALUES (1, 2);")).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(unknown.tables.into_iter().collect::<Vec<_>>(), ["more", "tb_other"]);
    assert_eq!(unknown.columns.into_iter().collect::<Vec<_>>(), ["tb_shop.extra", "tb_shop.extra2"]);
}

#[test]
fn instants_take_the_zone_that_mysqldump_writes_them_in() {
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
fn faults_are_reported_with_their_place() {
    for (text, message) in [
        ("", "not an SQL dump, but an empty file"),
        ("\u{1f}\u{8b}", "not the beginning of a statement"),
        ("%PDF-1.7", "line 1, column 1: not the beginning of a statement in a MySQL dump"),
        ("<html>", "line 1, column 1: not the beginning of a statement"),
        (
            "\n  PRAGMA foreign_keys=OFF;",
            "line 2, column 3: no statement of a MySQL dump begins with `PRAGMA`",
        ),
        (
            "SET a = 1;\nCOPY public.tb_shop FROM stdin;",
            "line 2, column 1: no statement of a MySQL dump begins with `COPY`",
        ),
        (
            "SET a = 1",
            "line 1, column 1: the file ends inside the statement that begins here: the file is truncated",
        ),
        ("\nINSERT INTO tb_shop (id) VALUES (1),", "line 2, column 1: the file ends inside the statement"),
        ("INSERT INTO tb_shop (id) VALUES (1)", "truncated"),
        (
            "INSERT INTO tb_shop (id) VALUES (1, 2);",
            "line 1, column 33: a row of tb_shop has more values than the table's 1 columns",
        ),
        (
            "INSERT INTO tb_shop (id, name) VALUES (1, 'a'),\n (2);",
            "line 2, column 2: a row of tb_shop has fewer values than the table's 2 columns",
        ),
        (
            "INSERT INTO tb_shop (id) VALUES ('a",
            "line 1, column 34: the file ends inside the string that begins here",
        ),
        ("INSERT INTO tb_shop (id) VALUES (1 2);", "line 1, column 36: expected a comma or parenthesis"),
        ("INSERT INTO tb_shop (id) VALUES (;", "expected a value"),
        ("INSERT INTO tb_shop (id) SELECT 1;", "expected rows of tb_shop"),
        (
            "INSERT INTO tb_shop (id) VALUES (x'g');",
            "column 34: invalid character in a hexadecimal or binary value",
        ),
        ("DELIMITER ;;\nCREATE TRIGGER", "line 1, column 1: the file ends inside the statement"),
        (
            "INSERT INTO tb_shop (id) VALUES (1);\nINSE",
            "line 2, column 1: the file ends inside the statement that begins here",
        ),
        (
            "ALTER TABLE tb_shop CHANGE name title varchar(9);",
            "this ALTER TABLE renames tb_shop or one of its columns",
        ),
    ] {
        let error = error(text);
        assert!(error.contains(message), "{text:?}: {error}");
    }
    assert!(
        error(&format!("{MADE}{MADE}")).contains("tb_shop is created a second time, after line 1, column 1")
    );
}

#[test]
fn each_tool_closes_what_it_has_opened() {
    let rows = "CREATE TABLE tb_user (id int);INSERT INTO tb_user VALUES (1);";
    let variables = "/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='' */;";
    for (tool, begin, end) in [
        ("mysqldump", "-- MySQL dump 10.13  Distrib 8.0.30\n", "-- Dump completed on 2026-11-22\n"),
        ("mariadb-dump", "-- MariaDB dump 10.19\n", "-- Dump completed on 2026-11-22"),
        ("mysqldump --skip-comments", variables, "/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;"),
        ("HeidiSQL", variables, "/*!40101 SET SQL_MODE=IFNULL(@OLD_SQL_MODE, '') */;"),
        ("Navicat", "SET FOREIGN_KEY_CHECKS = 0;", "SET FOREIGN_KEY_CHECKS = 1;"),
        (
            "Workbench",
            "SET @OLD_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0;",
            "SET FOREIGN_KEY_CHECKS=@OLD_CHECKS;",
        ),
        ("phpMyAdmin", "SET AUTOCOMMIT = 0;\nSTART TRANSACTION;", "COMMIT;"),
    ] {
        let end_of = |text: &str| Dump::new(text.as_bytes(), SHOPS).survey(|_| {}).unwrap().end;
        assert_eq!(end_of(&format!("{begin}{rows}{end}")), End::Whole, "{tool}");
        assert!(matches!(end_of(&format!("{begin}{rows}")), End::Unsigned { .. }), "{tool}");
        // Statements appended later do not make a dump incomplete; another dump does.
        assert_eq!(end_of(&format!("{begin}{rows}{end}\nDELETE FROM tb_user;")), End::Whole, "{tool}");
        let second = rows.replace("tb_user", "tb_shop").replace("(id int)", "(id int, name text)");
        let both = format!("{begin}{rows}{end}\n{begin}{}", second.replace("(1)", "(1, '')"));
        assert!(matches!(end_of(&both), End::Unsigned { .. }), "{tool}");
    }
}

#[test]
fn statements_behind_the_rows_change_those_before_them() {
    let rows = "CREATE TABLE tb_shop (id int, name text, sold int, created datetime);
        INSERT INTO tb_shop VALUES (1,'a',5,'2022-01-01 00:00:00'),(2,'B',NULL,'2022-03-01 10:00:00'),(3,'c d ',7,NULL);";
    let [one, two, three] =
        ["1 'a' 5 '2022-01-01 00:00:00'", "2 'B' NULL '2022-03-01 10:00:00'", "3 'c d ' 7 NULL"];
    let all = [one, two, three];
    for (statement, left_of) in [
        ("DELETE FROM tb_shop WHERE id = 2;", vec![one, three]),
        ("DELETE FROM `hmdp`.`tb_shop` WHERE `id` IN (1, '3') AND sold >= 6;", vec![one, two]),
        ("DELETE FROM tb_shop WHERE (id = 1 OR id = 2) AND NAME <> 'a';", vec![one, three]),
        ("DELETE FROM tb_shop WHERE name = 'b';", vec![one, three]),
        ("DELETE FROM tb_shop WHERE sold IS NULL OR created IS NULL;", vec![one]),
        ("DELETE FROM tb_shop WHERE sold != 5;", vec![one, two]),
        ("DELETE FROM tb_shop WHERE created < '2022-02-01';", vec![two, three]),
        ("DELETE FROM tb_shop WHERE id BETWEEN 2 AND 3;", vec![one]),
        ("DELETE FROM tb_shop WHERE id NOT IN (1,2);", vec![one, two]),
        ("DELETE FROM tb_shop;", vec![]),
        ("TRUNCATE TABLE tb_shop;", vec![]),
        ("DROP TABLE IF EXISTS tb_user, tb_shop;", vec![]),
        ("DELETE FROM other WHERE id = (SELECT 1);", all.to_vec()),
        ("UPDATE tb_shop SET sold = sold - 2, name = 'z' WHERE id = 3;", vec![one, two, "3 'z' 5 NULL"]),
        (
            "UPDATE tb_shop SET more = CONCAT('a', ','), sold = 1 WHERE id = 1;",
            vec!["1 'a' 1 '2022-01-01 00:00:00'", two, three],
        ),
        ("UPDATE tb_shop SET id = 9 WHERE id = 1; DELETE FROM tb_shop WHERE id = 9;", vec![two, three]),
        (
            "DELETE FROM tb_shop WHERE id = 4; INSERT INTO tb_shop VALUES (4,'e',0,NULL);",
            vec![one, two, three, "4 'e' 0 NULL"],
        ),
    ] {
        assert_eq!(left(&format!("{rows}{statement}")).unwrap(), left_of, "{statement}");
    }
    for refused in [
        "UPDATE tb_shop SET name = UPPER(name);",
        "UPDATE tb_shop SET sold = sold * 2;",
        "UPDATE tb_shop s JOIN tb_user u ON u.id = s.id SET s.sold = 1;",
        "UPDATE other, tb_shop SET sold = 1;",
        "DELETE FROM tb_shop WHERE id = (SELECT 1);",
        "DELETE FROM tb_shop WHERE more = 1;",
        "DELETE FROM tb_shop ORDER BY id LIMIT 1;",
        "DELETE FROM tb_shop WHERE NOT id = 1;",
        "DELETE FROM tb_shop WHERE name LIKE 'a%';",
    ] {
        let error = left(&format!("{rows}\n{refused}")).unwrap_err().to_string();
        assert!(error.contains("line 3, ") && error.contains("cannot apply this"), "{refused}: {error}");
    }
    let error = left(&format!("{rows}\nDELETE FROM tb_shop WHERE name > 'a';")).unwrap_err().to_string();
    assert!(error.contains("only MySQL can tell whether the DELETE on line 3 changes this row"), "{error}");
}

#[test]
fn a_wanted_table_may_be_in_parts_or_without_its_prefix() {
    let table = |name: &str, row: &str, next: u64| {
        format!(
            "CREATE TABLE {name} (id int, name text) AUTO_INCREMENT={next};INSERT INTO {name} VALUES {row};"
        )
    };
    let found = |text: &str| {
        let survey = Dump::new(text.as_bytes(), SHOPS).survey(|_| {}).unwrap();
        let Found { parts, next_id } = survey.found[0].clone();
        (parts.join(" "), next_id.unwrap_or(0), left(text).unwrap().len())
    };
    let [one, two] = ["(1,'a')", "(2,'a')"];
    let shards = [table("tb_shop_0", one, 5), table("tb_shop_1", two, 7)].concat();
    assert_eq!(found(&shards), ("tb_shop_0 tb_shop_1".to_owned(), 7, 2));
    let months = [table("tb_shop_202201", one, 2), table("tb_shop_00", two, 3)].concat();
    assert_eq!(found(&months), ("tb_shop_202201 tb_shop_00".to_owned(), 3, 2));
    let backup = [table("tb_shop", one, 2), table("tb_shop_20220314", one, 9)].concat();
    assert_eq!(found(&backup), ("tb_shop".to_owned(), 2, 1), "a copy of one day is no part of it");
    let bare = table("shop", one, 4);
    assert_eq!(found(&bare), ("shop".to_owned(), 4, 1));
    let both = [table("shop", one, 4), "CREATE TABLE tb_shop (id int, name text);".to_owned()].concat();
    assert_eq!(found(&both), ("tb_shop".to_owned(), 0, 0));
    let another = "CREATE TABLE shop (id int, colour text);INSERT INTO shop VALUES (1,'red');";
    assert_eq!(found(another), (String::new(), 0, 0));
    let altered = format!(
        "{}ALTER TABLE `tb_shop` MODIFY `id` int NOT NULL AUTO_INCREMENT, AUTO_INCREMENT=77;",
        table("tb_shop", one, 2)
    );
    assert_eq!(found(&altered).1, 77);
    let empty = "CREATE TABLE tb_shop (id int, name text);DROP TABLE IF EXISTS tb_user;";
    let survey = Dump::new(empty.as_bytes(), SHOPS).survey(|_| {}).unwrap();
    assert_eq!(survey.found.iter().map(|found| found.parts.len()).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn files_of_other_kinds_are_known_by_their_first_bytes() {
    for (bytes, message) in [
        (&[0x1f, 0x8b, 8, 0][..], "gzip"),
        (b"PK\x03\x04", "zip"),
        (b"\xff\xfeS\0", "UTF-16"),
        (b"BZh9", "compressed"),
    ] {
        let error = Dump::new(bytes, SHOPS).next_row().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
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
