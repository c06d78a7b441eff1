//! The manual's table of what works without a network, row by row, with the real program: beside a gateway
//! for messages and one for payments; in a network namespace without any way out; and there with an unsure
//! clock, made by moving the stored time of the last run.

mod common;

use std::fs;
use std::io::{Cursor, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use image::{DynamicImage, ImageFormat, RgbImage};
use mallbox::mall::{Clock as _, SystemClock, ZONE};
use mallbox_test_payment_gateway::PaymentGateway;
use serde_json::{Value, json};
use tempfile::TempDir;

use common::http::{self, Reply};
use common::mall::{self, Size};
use common::network_namespace;
use common::server::Server;

const PHONE: &str = "13900000002";
const PASSWORD: &str = "correct horse";
const PIN: &str = "482913";
const SECRET: &str = "a secret of sixteen";
/// Price of all vouchers, in cents.
const PRICE: i64 = 100;

/// A column of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Circumstance {
    Network,
    None,
    UnsureClock,
}

/// Outcome of an action.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Outcome {
    Done,
    /// With the code of the refusal.
    Refused(String),
}

type Action = fn(&mut Shop) -> anyhow::Result<Outcome>;

/// Rows of the table: the text of the first column, and the action.
const ACTIONS: [(&str, Action); 21] = [
    ("look at shops, vouchers and notes", |shop| {
        shop.all("GET", &["/shop/1", "/voucher/list/1", "/blog/hot"])
    }),
    ("find shops nearby", |shop| shop.all("GET", &["/shop/of/type?typeId=1&current=1&x=120.15&y=30.32"])),
    ("log in by text message", |shop| shop.all("POST", &["/user/code?phone=13900000003"])),
    ("log in by password", |shop| shop.log_in(&json!({ "phone": PHONE, "password": PASSWORD }))),
    ("log in by a code from staff", |shop| {
        let code = shop.counter_code(PHONE)?;
        shop.log_in(&json!({ "phone": PHONE, "code": code }))
    }),
    ("claim a unit of a flash sale", |shop| {
        let path = format!("/voucher-order/seckill/{}", shop.sale);
        Ok(outcome(&shop.ask("POST", &path, &shop.customer, &Value::Null)?))
    }),
    ("order a voucher", |shop| {
        let path = format!("/voucher-order/{}", shop.voucher);
        let bought = shop.ask("POST", &path, &shop.customer, &Value::Null)?;
        shop.order = bought.body["dataText"].as_str().unwrap_or_default().to_owned();
        Ok(outcome(&bought))
    }),
    ("pay through a payment gateway", |shop| {
        let path = format!("/voucher-order/{}/pay", shop.order);
        Ok(outcome(&shop.ask("POST", &path, &shop.customer, &Value::Null)?))
    }),
    ("sign in daily", |shop| Ok(outcome(&shop.ask("POST", "/user/sign", &shop.customer, &Value::Null)?))),
    ("write a note, like it, follow its author", |shop| {
        let note = json!({ "shopId": 1, "title": "无网络", "content": "也能写", "images": "" });
        let written = shop.ask("POST", "/blog", &shop.operator, &note)?;
        let id = written.body["data"].as_u64().with_context(|| written.text.clone())?;
        let author = shop.ask("GET", "/user/me", &shop.operator, &Value::Null)?.body["data"]["id"].clone();
        for path in [format!("/blog/like/{id}"), format!("/follow/{author}/true")] {
            let done = outcome(&shop.ask("PUT", &path, &shop.customer, &Value::Null)?);
            if done != Outcome::Done {
                return Ok(done);
            }
        }
        Ok(Outcome::Done)
    }),
    ("upload a picture", Shop::upload),
    ("staff log in by PIN", |shop| shop.log_in_by_pin().map(|(outcome, _)| outcome)),
    ("open a cash session", |shop| {
        let opened = shop.ask("POST", "/ops/cash", &shop.staff, &json!({ "float": 30_000 }))?;
        shop.session = opened.body["data"]["id"].as_u64().unwrap_or_default();
        Ok(outcome(&opened))
    }),
    ("sell a voucher at the counter", |shop| {
        let sold = shop.sell(shop.voucher, "ordinary")?;
        let data = &sold.body["data"];
        shop.sold = data["order"]["id"].as_str().unwrap_or_default().to_owned();
        shop.receipt = data["receipt"]["code"].as_str().unwrap_or_default().to_owned();
        Ok(outcome(&sold))
    }),
    ("sell a unit of a flash sale at the counter", |shop| {
        let sold = shop.sell(shop.sale, "flash sale")?;
        Ok(outcome(&sold))
    }),
    ("print a receipt on a printer of this machine", |shop| {
        let path = format!("/ops/orders/{}/print", shop.sold);
        let printed = shop.ask("POST", &path, &shop.staff, &Value::Null)?;
        ensure!(fs::metadata(shop.printer())?.len() > 0, "nothing is on the paper: {}", printed.text);
        Ok(outcome(&printed))
    }),
    ("redeem a receipt", |shop| {
        let path = format!("/ops/receipts/{}/use", shop.receipt);
        Ok(outcome(&shop.ask("POST", &path, &shop.staff, &Value::Null)?))
    }),
    ("refund at the counter", |shop| {
        let sold = shop.sell(shop.voucher, "refunded")?;
        let path =
            format!("/ops/orders/{}/refund", sold.body["data"]["order"]["id"].as_str().unwrap_or_default());
        let form = json!({ "amount": PRICE, "method": "cash", "reason": "changed mind" });
        Ok(outcome(&shop.ask("POST", &path, &shop.operator, &form)?))
    }),
    ("close a cash session with a Z report", |shop| {
        let path = format!("/ops/cash/{}", shop.session);
        let report = shop.ask("GET", &path, &shop.staff, &Value::Null)?;
        let expected = &report.body["data"]["expected"];
        let form = json!({ "counted": expected, "expected": expected, "requestId": "close" });
        Ok(outcome(&shop.ask("POST", &format!("{path}/close"), &shop.staff, &form)?))
    }),
    ("download the accounts of a day", |shop| {
        let day =
            shop.ask("GET", "/ops/clock", &shop.operator, &Value::Null)?.body["data"]["mallTime"].clone();
        let day = day.as_str().and_then(|time| time.get(..10)).context("no day")?.to_owned();
        let file = shop.ask("GET", &format!("/ops/accounts/{day}/payments"), &shop.operator, &Value::Null)?;
        ensure!(file.status == 200 && file.head.contains("text/csv"), "{} {}", file.status, file.text);
        Ok(Outcome::Done)
    }),
    ("back up to a disk of this machine", |shop| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mallbox"));
        command.arg("backup").arg(shop.dir.path().join("backup")).arg("--data").arg(shop.data());
        let output = command.stdin(Stdio::null()).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(Outcome::Done)
    }),
];

/// A shop that is open: a mall, its operator, a customer and a person on duty.
struct Shop {
    dir: TempDir,
    server: Server,
    _services: Option<(PaymentGateway, SocketAddr)>,
    operator: String,
    kiosk: String,
    staff: String,
    customer: String,
    voucher: u64,
    sale: u64,
    order: String,
    sold: String,
    receipt: String,
    session: u64,
}

impl Shop {
    fn open(circumstance: Circumstance) -> anyhow::Result<Self> {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
        let (data, printer) = (dir.path().join("mall"), dir.path().join("paper"));
        let (operator, sale) = furnish(&data, circumstance)?;
        fs::write(&printer, "")?;
        let services = match circumstance {
            Circumstance::Network => Some((PaymentGateway::start(SECRET), messages()?)),
            _ => None,
        };
        let (payment, sms) = match &services {
            Some((gateway, messages)) => (gateway.url(), format!("http://{messages}/sms")),
            None => ("https://pay.example.com/v1".to_owned(), "https://sms.example.com/send".to_owned()),
        };
        let log = dir.path().join("mallbox.log");
        let printer = printer.to_str().context("a path that is no text")?.to_owned();
        let flags = [
            ["--payment", "webhook"],
            ["--payment-url", &payment],
            ["--payment-secret", SECRET],
            ["--sms", &sms],
            ["--printer", &printer],
        ];
        let flags = [flags.as_flattened(), &["--counter-codes"]].concat();
        let server = Server::start_with(&data, &log, &flags)?;
        let mut shop = Self {
            dir,
            server,
            _services: services,
            operator,
            kiosk: String::new(),
            staff: String::new(),
            customer: String::new(),
            voucher: 0,
            sale,
            order: String::new(),
            sold: String::new(),
            receipt: String::new(),
            session: 0,
        };
        shop.prepare(circumstance)?;
        Ok(shop)
    }

    /// Adds a voucher, a kiosk, a person and a customer with a password.
    fn prepare(&mut self, circumstance: Circumstance) -> anyhow::Result<()> {
        let clock = self.ask("GET", "/ops/clock", &self.operator, &Value::Null)?;
        let is_unsure = clock.body["data"]["state"] == "unsure";
        ensure!(is_unsure == (circumstance == Circumstance::UnsureClock), "{}", clock.text);
        let text = json!({
            "shopId": 1, "title": "一碗面", "subTitle": "", "rules": "", "payValue": PRICE, "actualValue": 500,
        });
        self.voucher = self.done("POST", "/voucher", &text)?.as_u64().context("no voucher")?;
        let kiosk = self.done("POST", "/ops/kiosks", &json!({ "name": "收银台" }))?;
        kiosk["key"].as_str().context("no key")?.clone_into(&mut self.kiosk);
        self.done("POST", "/ops/staff", &json!({ "name": "小安", "pin": PIN }))?;
        let (outcome, token) = self.log_in_by_pin()?;
        ensure!(outcome == Outcome::Done, "{outcome:?}");
        self.staff = token;
        let code = self.counter_code(PHONE)?;
        let begun = self.ask("POST", "/user/login", "", &json!({ "phone": PHONE, "code": code }))?;
        begun.body["data"].as_str().with_context(|| begun.text.clone())?.clone_into(&mut self.customer);
        self.set_password()?;
        // A new password ends all sessions.
        let begun = self.ask("POST", "/user/login", "", &json!({ "phone": PHONE, "password": PASSWORD }))?;
        begun.body["data"].as_str().with_context(|| begun.text.clone())?.clone_into(&mut self.customer);
        Ok(())
    }

    fn set_password(&self) -> anyhow::Result<()> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mallbox"));
        command.args(["user", "set-password", "--data"]).arg(self.data()).arg(PHONE);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
        child.stdin.take().context("no standard input")?.write_all(format!("{PASSWORD}\n").as_bytes())?;
        ensure!(child.wait()?.success(), "the password was not set");
        Ok(())
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("mall")
    }

    fn printer(&self) -> PathBuf {
        self.dir.path().join("paper")
    }

    fn ask(&self, method: &str, path: &str, token: &str, body: &Value) -> anyhow::Result<Reply> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        http::send(self.server.address, method, &format!("/api{path}"), token, &body)
    }

    /// Sends an operator's request that must succeed. Returns its data.
    fn done(&self, method: &str, path: &str, body: &Value) -> anyhow::Result<Value> {
        let reply = self.ask(method, path, &self.operator, body)?;
        ensure!(reply.body["success"] == true, "{method} {path}: {} {}", reply.status, reply.text);
        Ok(reply.body["data"].clone())
    }

    /// Sends requests without a body or a user. Returns the first refusal.
    fn all(&self, method: &str, paths: &[&str]) -> anyhow::Result<Outcome> {
        for path in paths {
            let outcome = outcome(&self.ask(method, path, "", &Value::Null)?);
            if outcome != Outcome::Done {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Done)
    }

    fn log_in(&self, form: &Value) -> anyhow::Result<Outcome> {
        Ok(outcome(&self.ask("POST", "/user/login", "", form)?))
    }

    fn counter_code(&self, phone: &str) -> anyhow::Result<String> {
        let made = self.ask("POST", "/staff/log-in-codes", &self.staff, &json!({ "phone": phone }))?;
        Ok(made.body["data"]["code"].as_str().with_context(|| made.text.clone())?.to_owned())
    }

    fn log_in_by_pin(&self) -> anyhow::Result<(Outcome, String)> {
        let body = json!({ "pin": PIN }).to_string();
        let headers = [("x-kiosk-key", self.kiosk.as_str())];
        let reply =
            http::send_with(self.server.address, "POST", "/api/staff/login", &headers, body.as_bytes())?;
        Ok((outcome(&reply), reply.body["data"]["token"].as_str().unwrap_or_default().to_owned()))
    }

    fn sell(&self, voucher: u64, request: &str) -> anyhow::Result<Reply> {
        let form = json!({ "voucherId": voucher, "amount": PRICE, "method": "cash", "requestId": request });
        self.ask("POST", "/staff/sales", &self.staff, &form)
    }

    fn upload(&mut self) -> anyhow::Result<Outcome> {
        let mut picture = Cursor::new(Vec::new());
        DynamicImage::from(RgbImage::new(60, 40)).write_to(&mut picture, ImageFormat::Png)?;
        let head = "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\
                    content-type: image/png\r\n\r\n";
        let body = [head.as_bytes(), picture.get_ref(), b"\r\n--b--\r\n"].concat();
        let form = ("content-type", "multipart/form-data; boundary=b");
        let headers = [("authorization", self.customer.as_str()), form];
        Ok(outcome(&http::send_with(self.server.address, "POST", "/api/upload/blog", &headers, &body)?))
    }
}

fn outcome(reply: &Reply) -> Outcome {
    if reply.body["success"] == true { Outcome::Done } else { Outcome::Refused(reply.code().to_owned()) }
}

/// Makes a mall in a directory. Returns the operator's token and the voucher of a flash sale.
fn furnish(data: &Path, circumstance: Circumstance) -> anyhow::Result<(String, u64)> {
    mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        let upkeep = &storage.base.upkeep;
        upkeep.put_setting(ZONE, "Asia/Shanghai").await?;
        let made = mall::make_in(&storage, Size { people: 1, sales: 1, units: 10 }).await?;
        let operator = mall::appoint_operator_in(&storage, &made).await?;
        if circumstance == Circumstance::UnsureClock {
            // The clock of the machine is then ten minutes behind.
            let last_run = SystemClock.now() + Duration::from_secs(600);
            upkeep.put_setting("clock: last run ms", &last_run.as_millis().to_string()).await?;
        }
        upkeep.close().await?;
        Ok((operator, made.sales[0].get()))
    })
}

/// Starts a gateway for messages that accepts all. Returns its address.
fn messages() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            // The whole request is in the first packets: a phone and a code.
            let _ = stream.read(&mut [0; 4_096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    Ok(address)
}

/// Returns the rows of a manual page: the text of the first column without its links, and the other columns.
fn table(page: &str) -> anyhow::Result<Vec<(String, [String; 3])>> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("web/manual").join(page))?;
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")).skip(2);
    rows.map(|row| {
        let columns: Vec<&str> = row.split(" | ").collect();
        let [action, network, none, unsure] = columns[..] else { bail!("{page}: {row}") };
        let link = regex::Regex::new(r"\[([^\]]*)\]\([^)]*\)")?;
        let cells = [network, none, unsure].map(str::to_owned);
        Ok((link.replace_all(action, "$1").into_owned(), cells))
    })
    .collect()
}

/// Tries each row of the table in a column.
fn try_column(circumstance: Circumstance) -> anyhow::Result<()> {
    let rows = table("offline.md")?;
    let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
    ensure!(names == ACTIONS.map(|(name, _)| name), "the manual has other rows: {names:?}");
    let mut shop = Shop::open(circumstance)?;
    for ((name, action), (_, cells)) in ACTIONS.iter().zip(&rows) {
        let done = action(&mut shop).with_context(|| format!("{name}, {circumstance:?}"))?;
        let is_as_said = match cells[circumstance as usize].as_str() {
            "yes" => done == Outcome::Done,
            "no" => matches!(&done, Outcome::Refused(code) if code == "BUSY" || code == "CLOCK_UNSURE"),
            _ => false,
        };
        ensure!(is_as_said, "{name}, {circumstance:?}: the manual says {cells:?}, and it was {done:?}");
    }
    shop.server.stop()
}

#[test]
fn with_a_network_all_of_it_works() -> anyhow::Result<()> {
    try_column(Circumstance::Network)
}

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and network namespaces; tests/run turns it on where it is root"
)]
fn without_a_network_it_is_as_the_manual_says() -> anyhow::Result<()> {
    if network_namespace::is_inside() {
        return try_column(Circumstance::None);
    }
    network_namespace::run("without_a_network_it_is_as_the_manual_says")
}

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and network namespaces; tests/run turns it on where it is root"
)]
fn with_an_unsure_clock_it_is_as_the_manual_says() -> anyhow::Result<()> {
    if network_namespace::is_inside() {
        return try_column(Circumstance::UnsureClock);
    }
    network_namespace::run("with_an_unsure_clock_it_is_as_the_manual_says")
}

#[test]
fn both_languages_say_the_same() -> anyhow::Result<()> {
    let chinese = table("offline.zh.md")?.into_iter().map(|(_, cells)| {
        cells.map(|cell| match cell.as_str() {
            "可以" => "yes".to_owned(),
            "不可以" => "no".to_owned(),
            _ => cell,
        })
    });
    let english: Vec<_> = table("offline.md")?.into_iter().map(|(_, cells)| cells).collect();
    ensure!(chinese.collect::<Vec<_>>() == english, "the pages differ");
    Ok(())
}
