//! Generated dumps of every shape met elsewhere: which are accepted, the content of their reports, and the
//! effects of a refusal.

use crate::small_mall::{DUMP_END, DUMP_HEAD, Table, cut, mall, sharded, texts, whole, with, without};
use crate::world::{CommandOutput, Place};

const SAVED: &str = "/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;\n";
const RESTORED: &str = "/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;\n";
const HEIDI: &str = "/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;\n";
const HEIDI_END: &str = "/*!40103 SET TIME_ZONE=IFNULL(@OLD_TIME_ZONE, 'system') */;
/*!40014 SET FOREIGN_KEY_CHECKS=IFNULL(@OLD_FOREIGN_KEY_CHECKS, 1) */;\n";
const NAVICAT: &str =
    "/*\n Navicat Premium Data Transfer\n*/\n\nSET NAMES utf8mb4;\nSET FOREIGN_KEY_CHECKS = 0;\n\n";
const NAVICAT_END: &str = "\nSET FOREIGN_KEY_CHECKS = 1;\n";
const ADMIN: &str = "-- phpMyAdmin SQL Dump\nSET SQL_MODE = \"NO_AUTO_VALUE_ON_ZERO\";\nSTART TRANSACTION;\n";

/// Expected result of an import.
enum ImportOutcome {
    /// Refused, with a message containing these words.
    Refused(&'static str),
    /// Accepted: `counts` lists tables with other counts than the mall's, `texts` in the report, `short`
    /// the shortfalls it names.
    Taken {
        counts: &'static [(&'static str, u64)],
        texts: &'static [&'static str],
        short: &'static [&'static str],
    },
}

use ImportOutcome::{Refused, Taken};

const WHOLE: ImportOutcome = Taken { counts: &[], texts: &[], short: &[] };
const FINE: &[&str] = &["--cut-off-is-fine"];

/// Nothing after the users is imported.
const USERS_LAST: &[(&str, u64)] = &[
    ("tb_user_info", 0),
    ("tb_voucher", 0),
    ("tb_seckill_voucher", 0),
    ("tb_voucher_order", 0),
    ("tb_blog", 0),
    ("tb_blog_comments", 0),
    ("tb_follow", 0),
    ("tb_sign", 0),
];
const FOUR_USERS_LAST: &[(&str, u64)] = &[
    ("tb_user", 4),
    ("tb_user_info", 0),
    ("tb_voucher", 0),
    ("tb_seckill_voucher", 0),
    ("tb_voucher_order", 0),
    ("tb_blog", 0),
    ("tb_blog_comments", 0),
    ("tb_follow", 0),
    ("tb_sign", 0),
];

struct Shape {
    name: &'static str,
    text: String,
    flags: &'static [&'static str],
    comes: ImportOutcome,
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn shapes() -> Vec<Shape> {
    let all = texts(&mall());
    let dump = whole(&mall());
    let navicat = format!("{NAVICAT}{all}{NAVICAT_END}");
    let behind = |statements: &str| format!("{dump}\n{statements}\n");
    let two = |second_end: &str| {
        let (first, second) = (&mall()[..5], &mall()[5..]);
        format!("{}{DUMP_HEAD}{}{second_end}", whole(first), texts(second))
    };
    let shape = |name, text, flags, comes| Shape { name, text, flags, comes };
    vec![
        shape("mysqldump", dump.clone(), &[], WHOLE),
        shape("mysqldump --skip-comments", format!("{SAVED}{all}{RESTORED}"), &[], WHOLE),
        shape(
            "mariadb-dump",
            format!("/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19\n{all}{DUMP_END}"),
            &[],
            WHOLE,
        ),
        shape("Navicat", navicat.clone(), &[], WHOLE),
        shape("Navicat on Windows", format!("\u{feff}{}", navicat.replace('\n', "\r\n")), &[], WHOLE),
        shape(
            "an old Navicat",
            format!("{NAVICAT}{all}"),
            &[],
            Refused("`SET FOREIGN_KEY_CHECKS = 1` should come last; if it is, pass --cut-off-is-fine"),
        ),
        shape(
            "an old Navicat, on request",
            format!("{NAVICAT}{all}"),
            FINE,
            Taken { counts: &[], texts: &["\"isWholeFile\": false"], short: &["the dump may be incomplete"] },
        ),
        shape(
            "phpMyAdmin",
            format!(
                "{ADMIN}{all}ALTER TABLE `tb_user` ADD PRIMARY KEY (`id`);\nALTER TABLE `tb_user` MODIFY `id` int NOT NULL AUTO_INCREMENT, AUTO_INCREMENT=11;\nCOMMIT;\n"
            ),
            &[],
            WHOLE,
        ),
        shape("phpMyAdmin, cut", format!("{ADMIN}{all}"), &[], Refused("`COMMIT` should come last")),
        shape("HeidiSQL", format!("{HEIDI}{all}{HEIDI_END}"), &[], WHOLE),
        shape(
            "HeidiSQL, cut",
            format!("{HEIDI}{all}"),
            &[],
            Refused("cannot tell whether the dump is complete"),
        ),
        shape(
            "MySQL Workbench",
            format!(
                "SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0;\n{all}SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS;\n"
            ),
            &[],
            WHOLE,
        ),
        shape(
            "Sequel Ace",
            format!("# Sequel Ace SQL dump\n# Version 20046\n{SAVED}{all}{RESTORED}"),
            &[],
            WHOLE,
        ),
        shape(
            "mydumper",
            format!("/*!40101 SET NAMES binary*/;\n/*!40014 SET FOREIGN_KEY_CHECKS=0*/;\n{all}"),
            &[],
            Refused("cannot tell whether the dump is complete"),
        ),
        shape(
            "rows without a frame, as DBeaver exports them",
            all.clone(),
            &[],
            Refused("the file has no end mark; if it is, pass --cut-off-is-fine"),
        ),
        shape(
            "rows without a frame, on request",
            all.clone(),
            FINE,
            Taken { counts: &[], texts: &[], short: &["the dump may be incomplete"] },
        ),
        shape(
            "cut between two statements",
            cut(&dump, "DROP TABLE IF EXISTS `tb_user_info`"),
            &[],
            Refused("the last line should be `-- Dump completed`"),
        ),
        shape(
            "cut between two statements, on request",
            cut(&dump, "DROP TABLE IF EXISTS `tb_user_info`"),
            FINE,
            Taken {
                counts: USERS_LAST,
                texts: &[],
                short: &["the dump may be incomplete", "tables missing: 8"],
            },
        ),
        shape(
            "cut within a statement",
            cut(&dump, ",\n(5,'139"),
            &[],
            Refused(
                "the file ends inside the statement that begins here: the file is truncated; pass \
                 --cut-off-is-fine",
            ),
        ),
        shape(
            "cut within a statement, on request",
            cut(&dump, ",\n(5,'139"),
            FINE,
            Taken { counts: FOUR_USERS_LAST, texts: &[], short: &["tables missing: 8"] },
        ),
        shape(
            "cut within a text",
            cut(&dump, " good; really"),
            &[],
            Refused("the file ends inside the string that begins here"),
        ),
        shape(
            "cut within a text, on request",
            cut(&dump, " good; really"),
            FINE,
            Taken {
                counts: &[("tb_blog", 0), ("tb_blog_comments", 0), ("tb_follow", 0), ("tb_sign", 0)],
                texts: &[],
                short: &["tables missing: 3"],
            },
        ),
        shape("cut within a word", cut(&dump, "SERT INTO `tb_blog`"), &[], Refused("the file is truncated")),
        shape(
            "cut within a comment",
            format!("{}/*!40000 ALTER TABLE `tb_user`", cut(&dump, "DROP TABLE IF EXISTS `tb_user_info`")),
            &[],
            Refused("the file ends inside the comment"),
        ),
        shape("two dumps in one file", two(DUMP_END), &[], WHOLE),
        shape(
            "two dumps in one file, the second cut",
            two(""),
            &[],
            Refused("the last line should be `-- Dump completed`"),
        ),
        shape(
            "a missing table",
            whole(&without("tb_sign")),
            &[],
            Taken { counts: &[("tb_sign", 0)], texts: &[], short: &["tables missing: 1"] },
        ),
        shape(
            "an empty table",
            whole(&with("tb_sign", |table| table.rows.clear())),
            &[],
            Taken { counts: &[("tb_sign", 0)], texts: &[], short: &[] },
        ),
        shape(
            "no users",
            whole(&without("tb_user")),
            &[],
            Taken {
                counts: &[
                    ("tb_user", 0),
                    ("tb_user_info", 0),
                    ("tb_voucher_order", 0),
                    ("tb_blog", 0),
                    ("tb_blog_comments", 0),
                    ("tb_follow", 0),
                    ("tb_sign", 0),
                ],
                texts: &["user not in the mall"],
                short: &["tables missing: 1", "rows omitted: 15"],
            },
        ),
        shape(
            "users and orders in two parts",
            whole(&sharded(2, 1)),
            &[],
            Taken { counts: &[], texts: &["\"tb_user_0\"", "\"tb_voucher_order_1\""], short: &[] },
        ),
        shape(
            "users and orders in four parts",
            whole(&sharded(4, 2)),
            &[],
            Taken { counts: &[], texts: &["\"tb_user_03\""], short: &[] },
        ),
        shape(
            "parts with the same ids",
            whole(&sharded(2, 1)).replace("(4,'13900000004'", "(3,'13900000004'"),
            &[],
            Refused("user 3 in tb_user_1 has the same id or phone as a user in another shard of tb_user"),
        ),
        shape(
            "parts with the same phone",
            whole(&sharded(2, 1)).replace("13900000004", "13900000003"),
            &[],
            Refused("the owners of orders are ambiguous"),
        ),
        shape(
            "a copy of a table beside it",
            whole(
                &[mall(), vec![Table { name: "tb_user_20220314".to_owned(), ..mall()[2].clone() }]].concat(),
            ),
            &[],
            Taken { counts: &[], texts: &["tb_user_20220314"], short: &["tables skipped: 1"] },
        ),
        shape(
            "tables without the prefix",
            whole(&mall()).replace("`tb_", "`"),
            &[],
            Taken { counts: &[], texts: &["\"voucher_order\""], short: &[] },
        ),
        shape(
            "a table of somebody else's of nearly the same name",
            format!(
                "{DUMP_HEAD}CREATE TABLE user (host text, user text);\nINSERT INTO user VALUES ('%','root');\n{all}{DUMP_END}"
            ),
            &[],
            Taken { counts: &[], texts: &[], short: &["tables skipped: 1"] },
        ),
        shape(
            "an UPDATE by key behind the rows",
            behind("UPDATE tb_seckill_voucher SET stock = stock - 1 WHERE voucher_id = 2;"),
            &[],
            Taken { counts: &[], texts: &["\"statement\": \"UPDATE\""], short: &[] },
        ),
        shape(
            "a DELETE and a TRUNCATE behind the rows",
            behind(
                "DELETE FROM `tb_voucher_order` WHERE `voucher_id` = 2 AND status <> 4;\nTRUNCATE TABLE tb_follow;",
            ),
            &[],
            Taken {
                counts: &[("tb_voucher_order", 1), ("tb_follow", 0)],
                texts: &["\"rows\": 3", "\"statement\": \"TRUNCATE\""],
                short: &[],
            },
        ),
        shape(
            "an UPDATE that only MySQL can do",
            behind("UPDATE tb_user u JOIN tb_user_info i ON i.user_id = u.id SET u.nick_name = i.city;"),
            &[],
            Refused("cannot apply this UPDATE of tb_user"),
        ),
        shape(
            "rows that replace others",
            behind("REPLACE INTO tb_user VALUES (1,'13900000001','another name');"),
            &[],
            Taken { counts: &[("tb_user", 11)], texts: &[], short: &[] },
        ),
        shape(
            "a table that would go on higher",
            whole(&with("tb_user", |table| table.next = 1000)),
            &[],
            WHOLE,
        ),
        shape(
            "unpaid orders, to be cancelled",
            dump.clone(),
            &["--unpaid", "cancel"],
            Taken { counts: &[], texts: &["its unit returned to stock"], short: &[] },
        ),
        shape(
            "unpaid orders, to be paid in a day",
            dump.clone(),
            &["--unpaid", "24h", "--payment", "sandbox"],
            WHOLE,
        ),
        shape(
            "a column that gets another name",
            behind("ALTER TABLE tb_user CHANGE nick_name name text;"),
            &[],
            Refused("this ALTER TABLE renames tb_user or one of its columns"),
        ),
    ]
}

/// Compares a report with the expectations.
fn check(shape: &Shape, report: &str) {
    let Taken { counts, texts, short } = shape.comes else { panic!("{}: it was taken", shape.name) };
    let json: serde_json::Value = serde_json::from_str(report).unwrap();
    for table in mall() {
        let expected = counts.iter().find(|(name, _)| *name == table.name);
        let expected = expected.map_or(table.rows.len() as u64, |(_, count)| *count);
        let entry =
            json["tables"].as_array().unwrap().iter().find(|entry| entry["table"] == table.name.as_str());
        assert_eq!(entry.unwrap()["imported"], expected, "{}: {}\n{report}", shape.name, table.name);
    }
    for words in texts.iter().chain(short) {
        assert!(report.contains(words), "{}: {words}\n{report}", shape.name);
    }
    assert_eq!(json["isComplete"], short.is_empty(), "{}\n{report}", shape.name);
}

#[test]
fn dumps_of_every_shape_are_taken_whole_or_refused_with_the_reason() {
    let shapes = shapes();
    assert!(shapes.len() >= 40);
    for shape in shapes {
        let place = Place::new();
        let file = place.write("dump.sql", &shape.text);
        let CommandOutput { code, out, err } = place.import(&file, &[shape.flags, &["--json"]].concat());
        if let Refused(why) = shape.comes {
            assert!(code == 1 && out.is_empty() && err.contains(why), "{}: {code} {out}{err}", shape.name);
            assert!(
                err.contains("nothing was imported: line ") && err.trim_end().lines().count() == 1,
                "{err}"
            );
            assert!(!place.mall().exists(), "{}: something is left behind", shape.name);
            continue;
        }
        assert_eq!(code, 0, "{}: {err}", shape.name);
        check(&shape, &out);
        place.verify();
        let users = place.rows("SELECT seq FROM sqlite_sequence WHERE name = 'users'");
        match shape.name {
            "a table that would go on higher" => assert_eq!(users, ["999"]),
            "an UPDATE by key behind the rows" => assert_eq!(place.rows("SELECT stock FROM sales"), ["49"]),
            "rows that replace others" => {
                assert_eq!(place.rows("SELECT nick_name FROM users WHERE id = 1"), ["another name"]);
            }
            _ => {}
        }
    }
}

/// Imports every accepted dump into MySQL as well.
#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn dumps_of_every_shape_mean_the_same_on_servers() {
    use mallbox_test_servers::{MariaDb, Redis, RedisOptions};
    let redis = Redis::start_with(RedisOptions::default()).unwrap();
    let mysql = MariaDb::start_with(&[]).unwrap();
    let place = Place::new();
    let url = format!("redis://127.0.0.1:{}", redis.port());
    for (number, shape) in shapes().into_iter().enumerate() {
        let is_clash = shape.name.starts_with("parts with the same");
        if matches!(shape.comes, Refused(_)) && !is_clash {
            // Refused before any server is contacted.
            continue;
        }
        let file = place.write("dump.sql", &shape.text);
        let (database, prefix) = (mysql.url(&format!("mall{number}")), format!("mall{number}"));
        let mut command = crate::world::mallbox(&["import"]);
        command.arg(&file).args(["--redis", &url, "--mysql", &database, "--redis-prefix", &prefix, "--json"]);
        let CommandOutput { code, out, err } = crate::world::output_of(command.args(shape.flags));
        match shape.comes {
            Refused(why) => assert!(code == 1 && err.contains(why), "{}: {code} {err}", shape.name),
            Taken { .. } => {
                assert_eq!(code, 0, "{}: {err}", shape.name);
                check(&shape, &out);
            }
        }
    }
}

#[test]
fn a_time_to_pay_is_refused_where_nobody_pays() {
    let place = Place::new();
    let file = place.write("dump.sql", whole(&mall()));
    let CommandOutput { code, err, .. } = place.import(&file, &["--unpaid", "24h"]);
    assert!(code == 2 && err.contains("pass --payment sandbox"), "{code} {err}");
    assert!(!place.mall().exists());
}

#[test]
fn a_dry_run_reports_and_makes_nothing() {
    let place = Place::new();
    let file = place.write("dump.sql", whole(&without("tb_sign")));
    let report = place.imported(&file, &["--dry-run"]);
    assert!(report.contains("tb_sign                  missing\n"), "{report}");
    assert!(report.contains("missing     not in the file: tb_sign\n"), "{report}");
    assert!(report.contains("unpaid      1 × tb_voucher_order: an unpaid order "), "{report}");
    assert!(report.ends_with("This was a dry run: nothing was imported.\n"), "{report}");
    assert!(!place.mall().exists());
    let report = place.imported(&file, &[]);
    assert!(report.contains("\nImported with omissions: tables missing: 1. Next: mallbox serve"), "{report}");
    let whole = Place::new();
    let report = whole.imported(&whole.write("dump.sql", self::whole(&mall())), &[]);
    assert!(report.contains("\nImport complete. Next: mallbox serve"), "{report}");
}

#[test]
fn a_dump_through_a_pipe_is_read_like_a_file() {
    let place = Place::new();
    let pipe = place.path("pipe.sql");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let text = whole(&mall());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, text).unwrap()
    });
    let report = place.imported(&pipe, &[]);
    writer.join().unwrap();
    assert!(report.contains("Import complete."), "{report}");
}
