//! A small mall as the tables of a dump, to be written in each tool's format.

pub const DUMP_HEAD: &str = "-- MySQL dump 10.13  Distrib 8.0.30, for Linux (x86_64)\n--\n";
pub const DUMP_END: &str = "-- Dump completed on 2026-11-22 12:00:00\n";

/// A table: name, columns, rows, and the next auto-increment value.
#[derive(Clone)]
pub struct Table {
    pub name: String,
    pub columns: &'static str,
    pub rows: Vec<String>,
    pub next: u64,
}

impl Table {
    fn text(&self) -> String {
        let Self { name, columns, rows, next } = self;
        let made = format!(
            "DROP TABLE IF EXISTS `{name}`;\nCREATE TABLE `{name}` (\n{columns}\n) ENGINE=InnoDB AUTO_INCREMENT={next};\n"
        );
        let rows = rows.join(",\n");
        if rows.is_empty() { made } else { format!("{made}INSERT INTO `{name}` VALUES {rows};\n") }
    }
}

/// Returns a small mall: ten users, and a sale with four orders, one of them unpaid since 2023.
pub fn mall() -> Vec<Table> {
    let users = (1..=10).map(|id| format!("({id},'139000000{id:02}','user {id}')")).collect();
    let rows = |rows: &[&str]| rows.iter().map(|row| (*row).to_owned()).collect();
    [
        ("tb_shop_type", "id int, name text, sort int", rows(&["(1,'food',1)", "(2,'tea',2)"])),
        (
            "tb_shop",
            "id int, name text, type_id int, x double, y double",
            rows(&["(1,'noodles',1,120.1,30.2)", "(2,'rice',1,120.2,30.3)", "(3,'green',2,120.3,30.4)"]),
        ),
        ("tb_user", "id int, phone text, nick_name text", users),
        (
            "tb_user_info",
            "user_id int, city text, level int",
            rows(&["(1,'Hangzhou',3)", "(2,'',0)", "(3,NULL,1)"]),
        ),
        (
            "tb_voucher",
            "id int, shop_id int, title text, pay_value int, actual_value int, type int, status int",
            rows(&["(1,1,'50 for 47',4750,5000,0,1)", "(2,1,'a sale',100,5000,1,1)"]),
        ),
        (
            "tb_seckill_voucher",
            "voucher_id int, stock int, begin_time timestamp, end_time timestamp",
            rows(&["(2,50,'2023-01-01 00:00:00','2037-01-01 00:00:00')"]),
        ),
        (
            "tb_voucher_order",
            "id bigint, user_id int, voucher_id int, status int, create_time timestamp",
            rows(&[
                "(101,1,2,1,'2023-01-01 00:00:01')",
                "(102,2,2,2,'2023-01-01 00:00:01')",
                "(103,3,2,3,'2023-01-01 00:00:01')",
                "(104,4,2,4,'2023-01-01 00:00:01')",
            ]),
        ),
        (
            "tb_blog",
            "id int, shop_id int, user_id int, title text, content text",
            rows(&["(1,1,1,'a note','it''s \\\\ good; really')", "(2,2,2,'another','yes')"]),
        ),
        (
            "tb_blog_comments",
            "id int, user_id int, blog_id int, parent_id int, answer_id int, content text",
            rows(&["(1,2,1,0,0,'where?')", "(2,1,1,1,1,'there')"]),
        ),
        ("tb_follow", "id int, user_id int, follow_user_id int", rows(&["(1,1,2)", "(2,2,1)"])),
        ("tb_sign", "id int, user_id int, date date", rows(&["(1,1,'2023-01-01')", "(2,1,'2023-01-02')"])),
    ]
    .into_iter()
    .map(|(name, columns, rows)| Table { name: name.to_owned(), columns, rows, next: 1 })
    .collect()
}

/// Returns the tables as SQL, one after another.
pub fn texts(tables: &[Table]) -> String {
    tables.iter().map(Table::text).collect()
}

pub fn whole(tables: &[Table]) -> String {
    format!("{DUMP_HEAD}{}{DUMP_END}", texts(tables))
}

/// Returns the mall with one table changed.
pub fn with(name: &str, change: impl Fn(&mut Table)) -> Vec<Table> {
    let mut tables = mall();
    tables.iter_mut().filter(|table| table.name == name).for_each(change);
    tables
}

pub fn without(name: &str) -> Vec<Table> {
    mall().into_iter().filter(|table| table.name != name).collect()
}

/// Returns the mall with users and orders each split into `parts` tables.
pub fn sharded(parts: usize, digits: usize) -> Vec<Table> {
    let split = |table: Table| -> Vec<Table> {
        if !["tb_user", "tb_voucher_order"].contains(&table.name.as_str()) {
            return vec![table];
        }
        let of = |part: usize| Table {
            name: format!("{}_{part:0digits$}", table.name),
            rows: table.rows.iter().skip(part).step_by(parts).cloned().collect(),
            ..table.clone()
        };
        (0..parts).map(of).collect()
    };
    mall().into_iter().flat_map(split).collect()
}

/// Cuts SQL off before a text.
pub fn cut(text: &str, before: &str) -> String {
    text[..text.find(before).unwrap()].to_owned()
}
