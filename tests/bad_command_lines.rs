//! Wrong command lines and damaged files, and the result of each: an exit code, and a message that names the
//! problem.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/process.rs"]
mod process;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mallbox_storage::{Phone, Timestamp};
use mallbox_storage_embedded::EmbeddedOptions;

/// Longer than any refusal takes.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(30);
const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

/// Arguments of `mallbox`, the exit code, and a text in standard error.
///
/// `{new}`: a directory that does not exist; `{mall}`: one with a mall; `{theirs}`: one with foreign files;
/// `{file}`: a file; `{empty}`: the empty text; `{servers}`: URLs without a Redis and a MySQL behind them,
/// with passwords.
#[rustfmt::skip]
const LINES: &[(&str, i32, &str)] = &[
    ("", 2, "Usage: mallbox"),
    ("sell", 2, "'sell'"),
    ("--serve", 2, "'--serve'"),
    ("serve", 2, "no mall given; pass --data DIR, or --redis URL and --mysql URL"),
    ("serve --redis redis://127.0.0.1:1", 2, "--redis also needs --mysql URL"),
    ("serve --mysql mysql://127.0.0.1:1/mall", 2, "--mysql also needs --redis URL"),
    ("serve --data {new} --redis redis://127.0.0.1:1 --mysql mysql://127.0.0.1:1/mall", 2, "cannot be combined"),
    ("serve --data {new} --redis redis://127.0.0.1:1", 2, "cannot be combined"),
    ("serve --data {new} --redis-prefix mall", 2, "--redis-prefix is for malls in Redis and MySQL"),
    ("serve --data {new} --uploads {theirs}", 2, "--uploads is for malls in Redis and MySQL"),
    ("serve {servers} --durability power", 2, "--durability is for malls in a directory"),
    ("serve {servers} --accept-lost-log 141", 2, "--accept-lost-log is for malls in a directory"),
    ("serve {servers} --accept-lost-log", 2, "--accept-lost-log is for malls in a directory"),
    ("serve {servers} --upgrade-without-copy", 2, "--upgrade-without-copy is for malls in a directory"),
    ("serve {servers} --accept-damaged-database 3", 2, "--accept-damaged-database is for malls in a directory"),
    ("serve --data {new} --accept-damaged-database all", 2, "'all'"),
    ("serve {servers} --demo-data", 2, "--demo-data is for malls in a directory"),
    ("serve {servers} --uploads {new}", 2, "--uploads {new}: no such directory"),
    ("serve --redis {empty} --mysql {empty}", 1, " address: "),
    ("serve --redis redis://127.0.0.1:1 --mysql http://me:secret@127.0.0.1:1/mall", 1, "the URL does not begin with mysql://"),
    ("serve {servers}", 1, " at 127.0.0.1:1"),
    ("serve --data", 2, "--data <DIR>"),
    ("serve {new}", 2, "'{new}'"),
    ("serve --data {file}", 2, "{file} is a file"),
    ("serve --data {theirs}", 2, "holds no mall, but other files (notes.txt)"),
    ("serve --data {file}/mall", 1, "{file}/mall"),
    ("serve --data {new} --data {new}", 2, "'--data <DIR>' cannot be used multiple times"),
    ("serve --data {new} --listen here", 2, "'here'"),
    ("serve --data {new} --listen 127.0.0.1", 2, "'127.0.0.1'"),
    ("serve --data {new} --listen 127.0.0.1:65536", 2, "'127.0.0.1:65536'"),
    ("serve --data {new} --listen 192.0.2.1:8080", 1, "192.0.2.1:8080"),
    ("serve --data {new} --zone Asia/Atlantis", 2, "Asia/Atlantis"),
    ("serve --data {new} --zone {empty}", 2, "--zone"),
    ("serve --data {mall} --zone Europe/Berlin", 1, "Asia/Shanghai and cannot be changed to Europe/Berlin"),
    ("serve --data {new} --limits some", 2, "'some'"),
    ("serve --data {new} --limits", 2, "--limits"),
    ("serve --data {new} --durability paper", 2, "[possible values: power, process, relaxed]"),
    ("serve --data {new} --connections 0", 2, "--connections"),
    ("serve --data {new} --connections -1", 2, "'-1'"),
    ("serve --data {new} --connections many", 2, "'many'"),
    ("serve --data {new} --connections 99999999999999999999", 2, "99999999999999999999"),
    ("serve --data {new} --max-backlog 0", 2, "--max-backlog"),
    ("serve --data {new} --max-backlog 1.5", 2, "'1.5'"),
    ("serve --data {new} --log-format xml", 2, "[possible values: text, json]"),
    ("serve --data {new} --api-prefix api", 2, "expected a path such as /api, or nothing"),
    ("serve --data {new} --api-prefix /a?b", 2, "'/a?b'"),
    ("serve --data {new} --api-prefix //api", 2, "'//api'"),
    ("serve --data {new} --web {new}", 2, "--web {new}: no such directory"),
    ("serve --data {new} --web {file}", 2, "--web {file}: no such directory"),
    ("serve --data {new} --alert-url http://x", 2, "beyond this machine, URLs must begin with https://"),
    ("serve --data {new} --alert-url pager", 2, "expected --alert-url with a URL like"),
    ("serve --data {new} --otlp collector:4318", 2, "expected a URL like http://127.0.0.1:4318, not collector:4318"),
    ("serve --data {new} --otlp grpc://collector:4317", 2, "grpc://collector:4317: URLs must begin with"),
    ("serve --data {new} --otlp http://me:secret@collector?key=secret", 2, "http://collector: user names"),
    ("serve --data {new} --otlp-sample 2", 2, "expected a number from 0 to 1"),
    ("demo --data {new} --otlp {empty}", 2, "expected a URL like http://127.0.0.1:4318"),
    ("serve --data {new} --sms ftp://x", 2, "URLs must begin with https:// or http://"),
    ("serve --data {new} --sms http://x", 2, "beyond this machine, URLs must begin with https://"),
    ("serve --data {new} --sms http://", 2, "or http://127.0.0.1:9000/sms"),
    ("serve --data {new} --sms http://a:99999/", 2, "no port after the colon"),
    ("serve --data {new} --sms http://me@a/", 2, "user names in the URL"),
    ("serve --data {new} --sms letter", 2, "URLs must begin with https:// or http://"),
    (
        "serve --data {new} --payment-url http://pay.example --payment-secret 0123456789abcdef",
        2,
        "beyond this machine, URLs must begin with https://",
    ),
    ("serve --data {new} --public-url mall.example.com", 2, "--public-url: expected an address such as"),
    ("serve --data {new} --printer lp0", 2, "--printer: expected an address such as tcp://192.168.1.50:9100"),
    ("serve --data {new} --printer 192.0.2.7:9100", 2, "absolute path such as /dev/usb/lp0, not \"192.0.2.7:9100\""),
    ("serve --data {new} --printer tcp://", 2, "expected a host name or an IP address after tcp://"),
    ("serve --data {new} --printer tcp://till:99999", 2, "--printer tcp://till:99999: expected a port from 1 to 65535"),
    ("serve --data {new} --printer {theirs}", 2, "--printer {theirs} is a directory"),
    ("serve --data {new} --printer-columns 40", 2, "[possible values: 32, 48]"),
    ("demo --data {new} --printer {empty}", 2, "/dev/usb/lp0, not \"\""),
    ("demo --data {new} --printer-heading {empty}", 2, "--printer-heading: expected 1 to 40 characters"),
    ("serve --data {new} --accept-lost-log yes", 2, "'yes'"),
    ("demo --data {mall}", 2, "a mall that is not a demo"),
    ("demo --data {file}", 2, "{file} is a file"),
    ("demo --data {theirs}", 2, "holds no mall, but other files"),
    ("demo --data {new} --web {new}", 2, "no such directory"),
    ("demo --data {new} --durability power", 2, "'--durability'"),
    ("demo {servers}", 2, "'--redis'"),
    ("verify", 2, "no mall given"),
    ("verify --redis redis://127.0.0.1:1", 2, "--redis also needs --mysql"),
    ("verify --data {mall} --durability power", 2, "'--durability'"),
    ("verify {servers}", 1, " at 127.0.0.1:1"),
    ("verify --data {new}", 2, "there is no mall in {new}"),
    ("verify --data {file}", 2, "there is no mall in {file}"),
    ("verify --data {theirs}", 2, "there is no mall in {theirs}"),
    ("verify --data {mall} --yaml", 2, "'--yaml'"),
    ("user", 2, "Usage: mallbox user"),
    ("user promote --data {mall} 13900000001", 2, "'promote'"),
    ("user list", 2, "no mall given"),
    ("user list --mysql mysql://127.0.0.1:1/mall", 2, "--mysql also needs --redis"),
    ("user grant {servers} 13900000001", 1, " at 127.0.0.1:1"),
    ("audit list", 2, "no mall given"),
    ("audit verify --data {mall} --redis redis://127.0.0.1:1", 2, "cannot be combined"),
    ("archive", 2, "Usage: mallbox archive"),
    ("archive list", 2, "no mall given"),
    ("archive list {servers}", 1, " at 127.0.0.1:1"),
    ("archive list --data {new}", 2, "there is no mall in {new}"),
    ("archive votes --data {mall}", 2, "--before"),
    ("archive votes --data {mall} --before 2026-11-24 --keep-days 3", 2, "--keep-days"),
    ("archive votes --data {mall} --before 24.11.2026", 2, "24.11.2026 is not a valid day"),
    ("archive votes --data {mall} --before 9999-12-31", 1, "only days that are over can be archived"),
    ("archive votes --data {mall} --keep-days -1", 2, "-1"),
    ("archive show votes --data {mall}", 2, "<DAY>"),
    ("archive show orders 2026-11-24 --data {mall}", 2, "'orders'"),
    ("archive show votes 2026-11-24 --data {mall}", 1, "This archived day does not exist"),
    ("archive show votes ../../x --data {mall}", 2, "../../x is not a valid day"),
    ("export", 2, "<DIR>"),
    ("export {theirs}", 2, "no mall given"),
    ("export {theirs} {servers}", 1, " at 127.0.0.1:1"),
    ("export {theirs} --data {new}", 2, "there is no mall in {new}"),
    ("export {new} --data {mall}", 2, "there is no directory {new}"),
    ("export {file} --data {mall}", 2, "there is no directory {file}"),
    ("export {theirs} --data {mall} --from 24.11.2026", 2, "24.11.2026 is not a valid day"),
    ("export {theirs} --data {mall} --to 9999-12-31", 1, "--to: expected a day like 2026-11-24, not after today"),
    ("export {theirs} --data {mall} --sale tea", 2, "'tea'"),
    ("export {theirs} --data {mall} --sale 999999", 1, "This sale does not exist"),
    ("export {theirs} --data {mall} --format xls", 2, "[possible values: csv, json]"),
    ("export {theirs} --data {mall} --format json --excel", 2, "--excel is for CSV; remove --format json"),
    ("import {file}", 2, "no mall given"),
    ("import {file} {servers} --imgs {theirs}", 2, "Redis and MySQL do not store pictures; pass --uploads DIR"),
    ("import {file} --data {new} --uploads {theirs}", 2, "--uploads is for malls in Redis and MySQL"),
    ("import {file} {servers}", 1, "no statement of a MySQL dump begins with `theirs`"),
    ("user list --data {new}", 2, "there is no mall in {new}"),
    ("user grant --data {mall}", 2, "<PHONE>"),
    ("user grant --data {new} 13900000001", 2, "there is no mall in {new}"),
    ("user grant --data {mall} 12345", 1, "not a valid mainland mobile number"),
    ("user grant --data {mall} +8613900000001", 2, "+8613900000001 is not a valid phone number"),
    ("user grant --data {mall} {empty}", 2, " is not a valid phone number"),
    ("user grant --data {mall} 13900000001/../2", 2, "13900000001/../2 is not a valid phone number"),
    ("user grant --data {mall} １３９００００００００１", 2, "１３９００００００００１ is not a valid phone number"),
    ("user code --data {mall} 12x45", 2, "12x45 is not a valid phone number"),
    ("user code --data {new} 13900000001", 2, "there is no mall in {new}"),
    ("user set-password --data {mall} x", 2, "x is not a valid phone number"),
    ("user end-sessions --data {mall} 13900000009", 1, "This user does not exist"),
    ("user remove-second-factor --data {mall} 13900000009", 1, "This user does not exist"),
    ("user remove-second-factor --data {mall} x", 2, "x is not a valid phone number"),
    ("user revoke --data {mall} 13900000009", 1, "This user does not exist"),
    ("user revoke --data {mall} x&y", 2, "x&y is not a valid phone number"),
    ("user grant --data {mall} 13900000001 13900000002", 2, "'13900000002'"),
    ("doctor --data {file}", 1, ""),
    ("doctor --quick", 2, "'--quick'"),
    ("doctor --redis redis://127.0.0.1:1", 2, "--redis also needs --mysql URL"),
    ("doctor --data {mall} {servers}", 2, "cannot be combined"),
    ("doctor --redis-prefix mall", 2, "--redis-prefix is for malls in Redis and MySQL"),
    ("doctor --redis {empty} --mysql {empty}", 1, " address: "),
    ("doctor {servers}", 1, ""),
    ("backup", 2, "<FILE|DIR>"),
    ("backup {new}", 2, "no mall given"),
    ("backup {new} --data {theirs}", 2, "there is no mall in {theirs}"),
    ("backup {new} {servers} --stream", 2, "--stream is for malls in a directory"),
    ("backup {new} {servers} --trial-redis redis://127.0.0.1:1", 2, "--trial-redis also needs --trial-mysql"),
    ("backup {new} {servers} --trial-mysql mysql://a/b", 2, "--trial-mysql also needs --trial-redis"),
    (
        "backup {new} --data {mall} --trial-redis redis://a --trial-mysql mysql://a/b",
        2,
        "--trial-redis is for malls in Redis and MySQL",
    ),
    ("backup {file} --data {mall}", 2, "{file} exists; choose another name"),
    ("backup {mall}/x --data {mall}", 2, "is inside the mall's own directory"),
    ("backup {new}/x --data {mall}", 2, "there is no directory {new}"),
    ("backup {theirs} --data {mall} --every 5", 2, "expected an interval from 1m to 31d"),
    ("backup {theirs} --data {mall} --every 5s", 2, "'5s'"),
    ("backup {theirs} --data {mall} --keep 7x", 2, "expected numbers of hours, days"),
    ("backup {new} --data {mall} --keep 7d", 2, "--keep takes a directory of backups"),
    ("backup {new} --data {mall} --stream", 2, "--stream takes a directory of backups"),
    ("restore {file} {new} --at noon", 2, "expected an instant with its time zone"),
    ("restore {file} {new} --at 2026-11-30T12:00:00", 2, "such as 2026-11-30T12:00:00Z, or latest"),
    ("restore {theirs} {new}", 2, "there is no backup in {theirs}"),
    ("restore {theirs} {new} --at 2026-11-30T12:00:00Z", 2, "there is no backup of 2026-11-30T12:00:00Z or before"),
    ("backup {theirs}/x --data {mall} --scratch {new}", 1, "cannot read {new}"),
    ("backup {theirs} --data {mall} --encrypt age1x", 1, "cannot read age1x"),
    ("backup {theirs} --data {mall} --encrypt {file}", 2, "{file} holds no public key of age"),
    ("backup {theirs} --data {mall} --sign {file}", 2, "{file} is no Ed25519 private key"),
    ("backup {theirs} --data {mall} --sign {new}", 1, "cannot read {new}"),
    ("restore", 2, "<FILE|DIR>"),
    ("restore {file}", 2, "nowhere to restore to; pass a directory, or --redis URL and --mysql URL"),
    ("restore {file} {new} {servers}", 2, "a mall is restored either into a directory or into --redis"),
    ("restore {file} --redis redis://a", 2, "--redis also needs --mysql"),
    ("restore {file} {servers} --at latest", 2, "--at is for malls in a directory"),
    ("restore {file} {servers}", 1, "{file}: nothing was restored: it is not a backup written by mallbox"),
    ("restore {new} {new}", 1, "cannot read {new}"),
    ("restore {file} {new}", 1, "{file}: nothing was restored: it is not a backup written by mallbox"),
    ("restore {file} {new} --key {file}", 2, "{file} holds no private key of age"),
    ("restore {file} {new} --signed-by {file}", 2, "{file} is no Ed25519 public key in PEM"),
    ("downgrade --before-upgrade --data {mall}", 2, "there is no copy from before an upgrade"),
    ("downgrade --before-upgrade --data {theirs}", 2, "there is no mall in {theirs}"),
    ("keygen", 2, "<PURPOSE>"),
    ("keygen encryption", 2, "<FILE>"),
    ("keygen love {new}", 2, "'love'"),
    ("keygen signature {file}", 2, "{file} exists, and a key is never replaced"),
    ("keygen signature {new}/x", 1, "cannot write to {new}/x"),
    ("restore {file} {theirs}", 2, "holds no mall, but other files (notes.txt)"),
    ("restore {file} {file}", 2, "{file} is a file"),
    ("downgrade --data {new}", 2, "there is no mall in {new}"),
    ("downgrade --data {theirs}", 2, "there is no mall in {theirs}"),
    ("downgrade --data", 2, "a value is required for '--data <DIR>'"),
    ("completions", 2, "<SHELL>"),
    ("completions csh", 2, "'csh'"),
    ("man-pages", 2, "<DIR>"),
    ("man-pages {file}", 1, "cannot write to {file}"),
    ("man-pages {file}/x", 1, "cannot write to {file}/x"),
    ("bench", 2, "Usage: mallbox bench"),
    ("bench everything", 2, "'everything'"),
    ("bench sale --users none", 2, "'none'"),
    ("bench sale --users 0", 1, "must each be at least 1"),
    ("bench sale --durability paper", 2, "'paper'"),
    ("bench sale --threads 0", 2, "'0'"),
    ("bench sale --connections 0", 2, "'0'"),
    ("bench sale --rate 0", 2, "the rate 0 is out of range"),
    ("bench sale --rate nan", 2, "the rate NaN is out of range"),
    ("bench sale --rate 9 --shape 5x2s", 2, "remove --rate"),
    ("bench sale --span 0", 2, "'0'"),
    ("bench sale --connections 1 --threads 2 --users 1", 1, "every thread needs a connection"),
    ("bench sale --shape 5x2", 2, "'5x2'"),
    ("bench sale --shape flash", 2, "--rate"),
    ("bench sale --users 9 --shape 5x2s", 1, "the shape has 10 claims, and the users make only 9"),
    ("bench sale --trace {file}", 2, "line 1"),
    ("bench sale --preset paper", 2, "thousand-threads"),
    ("bench sale --preset artemis --users 9", 2, "cannot be used with"),
    ("bench ramp --users 0", 1, "must each be at least 1"),
    ("bench ramp --p99 0", 2, "'0'"),
    ("bench compare paper", 2, "'paper'"),
    ("bench compare --workload paper", 2, "'paper'"),
    ("bench compare --users 0", 2, "'0'"),
    ("bench compare --rounds 0", 2, "'0'"),
    ("bench compare --redis redis://127.0.0.1:1", 2, "--mysql"),
    ("bench compare --redis redis://127.0.0.1:1 --mysql mysql://127.0.0.1:1/m", 2, "--may-destroy-data"),
    ("bench compare --foreign {new}", 1, "{new}"),
    ("bench compare --foreign {file}", 2, "{file}, line 1"),
    ("bench load", 2, "--target"),
    ("bench load --target http://127.0.0.1:1", 2, "--voucher"),
    ("bench load --target http://127.0.0.1:1 --voucher 1", 2, "cannot connect to 127.0.0.1:1"),
    ("bench load --target https://127.0.0.1:1 --voucher 1", 2, "https is not supported"),
    ("bench load --target 127.0.0.1:1 --voucher 1", 2, "expected http://HOST[:PORT][/PREFIX]"),
    ("bench load --target http://192.0.2.1 --voucher 1", 2, "--i-may-load-this-host"),
    ("bench load --target http://127.0.0.1:1 --voucher 1 --dialect latin", 2, "hm-dianping-go"),
    ("bench load --target http://127.0.0.1:1 --voucher 1 --dialect {file}", 2, "{file}: line 1"),
    ("bench load --target http://127.0.0.1:1 --voucher 1 --tokens {new}", 1, "{new}"),
    ("bench load --target http://127.0.0.1:1 --voucher 1 --tokens {file} --users 9", 2, "cannot be used with"),
    ("bench load --target http://127.0.0.1:1 --voucher 1 --users 0", 2, "'0'"),
    ("bench load --target http://127.0.0.1:1 --voucher 1 --claims-per-user 0", 2, "'0'"),
    ("bench ports everything", 2, "no port 'everything'; the ports: claim, order-log, geo"),
    ("bench ladder 99", 2, "no rung '99'; the rungs: 0, 0b, 1, 1b"),
    ("bench ladder --trigger luck", 2, "[possible values: three-at-once, stopped-before-write"),
    ("bench ladder --repeat 0", 2, "'0'"),
    ("bench ladder --span 60001", 2, "60001"),
    ("bench ladder --json {file}", 1, "{file} exists; pass a new file"),
    ("bench ladder --redis redis://:secret@127.0.0.1:1", 2, "--redis and --mysql go together"),
    ("bench ladder {servers}", 2, "add --may-destroy-data"),
    ("bench ladder {servers} --may-destroy-data", 1, "cannot connect to Redis at 127.0.0.1:1"),
    ("learn --port 65536", 2, "65536"),
    ("bench ports --threads 0", 2, "'0'"),
    ("bench ports --on paper", 2, "[possible values: directory, servers, both]"),
    ("bench ports --resume", 2, "--resume also needs --json FILE"),
    ("bench ports --resume --json {new}", 1, "there is no run to resume in {new}.part"),
    ("bench ports --json {file}", 1, "{file} exists; pass a new file"),
    ("bench ports --redis redis://:secret@127.0.0.1:1", 2, "--redis and --mysql go together"),
    ("bench ports --mysql mysql://root:secret@127.0.0.1:1/mall", 2, "--redis and --mysql go together"),
    ("bench ports {servers}", 2, "add --may-destroy-data"),
    ("bench ports {servers} --may-destroy-data --on directory", 2, "--redis is for malls in Redis and MySQL"),
    ("bench ports {servers} --may-destroy-data", 1, "cannot connect to Redis at 127.0.0.1:1"),
    ("bench queues everything", 2, "no way 'everything'; the ways: list, blmove, pub-sub"),
    ("bench queues --repeat 0", 2, "'0'"),
    ("bench queues --json {file}", 1, "{file} exists; pass a new file"),
    ("bench queues --redis redis://:secret@127.0.0.1:1", 2, "--redis and --mysql go together"),
    ("bench queues {servers}", 2, "add --may-destroy-data"),
    ("bench queues {servers} --may-destroy-data", 1, "cannot connect to Redis at 127.0.0.1:1"),
    ("bench feed everything", 2, "no way 'everything'; the ways: pull, push, hybrid"),
    ("bench feed --json {file}", 1, "{file} exists; pass a new file"),
    ("bench feed {servers}", 2, "add --may-destroy-data"),
    ("bench feed {servers} --may-destroy-data", 1, "cannot connect to Redis at 127.0.0.1:1"),
    ("bench cache pull", 2, "no way 'pull'; the ways: none, aside, delete-first"),
    ("bench cache --repeat 0", 2, "'0'"),
    ("bench cache --mysql mysql://root:secret@127.0.0.1:1/mall", 2, "--redis and --mysql go together"),
    ("bench report", 2, "<RESULTS>"),
    ("bench report {new}", 1, "cannot read {new}"),
    ("bench report {file}", 1, "{file} is not JSON"),
    ("bench dialect latin", 2, "no dialect 'latin'"),
];

const SERVERS: &str = "--redis redis://:secret@127.0.0.1:1 --mysql mysql://root:secret@127.0.0.1:1/mall";

/// Damage done to a file of a gracefully stopped mall.
enum Damage {
    Empty,
    Garbage,
    Text(&'static str),
    Remove,
    /// A directory in place of the file.
    Directory,
    OfAnotherProgram,
}

use Damage::{Directory, Empty, Garbage, OfAnotherProgram, Remove, Text};
use mallbox_test_patience::Deadline;

/// The file, the damage, the exit codes of `serve` and `verify`, and the messages of both.
#[rustfmt::skip]
const FILES: &[(&str, Damage, [i32; 2], [&str; 2])] = &[
    ("mall.sqlite", Empty, [1, 1], ["mall.sqlite is damaged: the file is empty"; 2]),
    ("mall.sqlite", Garbage, [1, 1], ["file is not a database"; 2]),
    ("mall.sqlite", Text("CREATE TABLE users;\n"), [1, 1], ["file is not a database"; 2]),
    ("mall.sqlite", OfAnotherProgram, [1, 1], ["an SQLite file of another program; use another directory"; 2]),
    ("mall.sqlite", Directory, [1, 1], ["mall.sqlite: cannot open the database"; 2]),
    ("mall.sqlite", Remove, [2, 2], ["holds no mall, but other files (log)", "there is no mall in"]),
    ("log/wal/manifest", Directory, [1, 1], ["cannot read or write the order log"; 2]),
    ("log/wal/segment-1", Directory, [1, 1], ["cannot read or write the order log"; 2]),
    ("lock", Directory, [1, 1], ["cannot write to the data directory"; 2]),
];

/// Damage of the order log that costs nothing: the store behind the write-ahead log is made anew.
const OF_NO_USE: &[(&str, Damage)] = &[
    ("log/CURRENT", Empty),
    ("log/CURRENT", Garbage),
    ("log/CURRENT", Remove),
    ("log/CURRENT", Text("7\n")),
    ("log/CURRENT", Text("../../etc\n")),
    ("log/CURRENT", Text("-1\n")),
    ("log/CURRENT", Directory),
    ("log/store-1/db", Remove),
    ("log/store-1/db", Empty),
    ("log/store-1/db", Garbage),
    ("log/store-1/db", Directory),
    ("log/store-1/conf", Remove),
    ("log/store-1/conf", Empty),
    ("log/store-1/conf", Garbage),
];

fn mallbox(arguments: &[String]) -> (i32, String) {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = process::mallbox(&arguments);
    let file = tempfile::NamedTempFile::new().unwrap();
    let output = fs::File::create(file.path()).unwrap();
    command.env("TZ", "Asia/Shanghai");
    let mut child = command.stdout(Stdio::null()).stderr(output).spawn().unwrap();
    let deadline = Deadline::after(REFUSAL_TIMEOUT);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if deadline.is_over() {
            child.kill().unwrap();
            panic!("{arguments:?} was not refused");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let output = fs::read_to_string(file.path()).unwrap();
    (status.code().unwrap_or_else(|| panic!("{arguments:?} died of a signal: {output}")), output)
}

/// Makes a mall and stops it gracefully.
fn make_mall(dir: &Path) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let storage = mallbox_storage_embedded::open(EmbeddedOptions::new(dir)).await.unwrap();
        let phone = Phone::parse("13900000001").unwrap();
        storage.people.users.find_or_create(&phone, "somebody", NOON).await.unwrap();
        storage.base.upkeep.put_setting("zone", "Asia/Shanghai").await.unwrap();
        storage.base.upkeep.close().await.unwrap();
    });
}

#[test]
fn every_bad_command_line_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    make_mall(&dir.path().join("mall"));
    fs::create_dir(place("theirs")).unwrap();
    fs::write(dir.path().join("theirs/notes.txt"), "theirs").unwrap();
    fs::write(place("file"), "theirs").unwrap();
    let filled_in = |text: &str| {
        let names = ["new", "mall", "theirs", "file"];
        let filled = names
            .iter()
            .fold(text.to_owned(), |text, name| text.replace(&format!("{{{name}}}"), &place(name)));
        filled.replace("{empty}", "")
    };
    let mut faults = Vec::new();
    for (line, code, words) in LINES {
        let line = &line.replace("{servers}", SERVERS);
        let arguments: Vec<String> = line.split_whitespace().map(filled_in).collect();
        let (got, output) = mallbox(&arguments);
        let sentences = output.lines().filter(|line| line.starts_with("mallbox: ")).count();
        let is_refused =
            output.contains(&filled_in(words)) && (sentences == 0 || output.lines().count() == 1);
        if got != *code
            || !is_refused
            || output.contains("panicked")
            || output.contains("Os {")
            || output.contains("secret")
        {
            faults.push(format!("mallbox {line}: {got}, and not {code} with \"{words}\": {output}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(!Path::new(&place("new")).exists(), "a directory was made on the way");
    assert_eq!(fs::read_to_string(place("file")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(place("theirs")).unwrap().count(), 1);
    println!("{} command lines", LINES.len());
}

#[test]
fn every_damaged_file_is_named_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    make_mall(&whole);
    let mut faults = Vec::new();
    for (number, (file, spoil, codes, words)) in FILES.iter().enumerate() {
        let data = dir.path().join(number.to_string());
        copy(&whole, &data);
        let path = data.join(file);
        spoil_file(&path, spoil);
        for ((command, code), words) in ["serve", "verify"].into_iter().zip(codes).zip(words) {
            let before = content(&path);
            let mut arguments =
                vec![command.to_owned(), "--data".to_owned(), data.to_str().unwrap().to_owned()];
            if command == "serve" {
                arguments.extend(["--listen".to_owned(), "127.0.0.1:0".to_owned()]);
            }
            let (got, output) = mallbox(&arguments);
            let sentences = output.lines().filter(|line| line.starts_with("mallbox: ")).count();
            let is_changed = content(&path) != before;
            let is_refused = sentences == 1 && output.contains(words) && !output.contains("panicked at src");
            if got != *code || !is_refused || is_changed {
                faults
                    .push(format!("{command}, row {number}, {file}: {got}, changed: {is_changed}: {output}"));
            }
        }
        fs::remove_dir_all(data).unwrap();
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    println!("{} damaged files", FILES.len());
}

#[test]
fn a_store_of_the_order_log_that_is_of_no_use_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    make_mall(&whole);
    for (number, (file, spoil)) in OF_NO_USE.iter().enumerate() {
        let data = dir.path().join(number.to_string());
        copy(&whole, &data);
        spoil_file(&data.join(file), spoil);
        let arguments = ["verify", "--data", data.to_str().unwrap()].map(str::to_owned);
        for _ in 0..2 {
            let (code, output) = mallbox(&arguments);
            assert!(code == 0 && !output.contains("panicked at src"), "row {number}: {code}: {output}");
        }
        let current = fs::read_to_string(data.join("log/CURRENT")).unwrap();
        let store = data.join(format!("log/store-{}", current.trim()));
        assert!(store.join("db").is_file(), "row {number}: no store was made");
        fs::remove_dir_all(data).unwrap();
    }
}

fn spoil_file(path: &Path, spoil: &Damage) {
    match spoil {
        Empty => fs::write(path, "").unwrap(),
        Garbage => fs::write(path, [0xfe; 10_000]).unwrap(),
        Text(text) => fs::write(path, text).unwrap(),
        Remove => fs::remove_file(path).unwrap(),
        Directory => {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }
        OfAnotherProgram => {
            fs::remove_file(path).unwrap();
            let theirs = rusqlite::Connection::open(path).unwrap();
            theirs.execute_batch("CREATE TABLE theirs (id INTEGER)").unwrap();
        }
    }
}

fn content(path: &PathBuf) -> Option<Vec<u8>> {
    fs::read(path).ok()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}
