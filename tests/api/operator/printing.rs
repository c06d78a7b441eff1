//! Receipts on paper: what an operator prints, on a printer that is a file or a socket.

use std::io::Read as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use mallbox::mall::operator::printing::{PaperColumns, PrinterAddress, PrinterOptions};
use mallbox_storage::{Fenced, FencingToken, ShopId, ShopText, VoucherEdit, VoucherId};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::paper::{Printed, printed, seen};
use super::world::{EVENING, World, voucher};

/// A mall whose printer is a file.
struct Counter {
    w: World,
    paper: PathBuf,
    _dir: TempDir,
}

pub fn options(address: &str, columns: PaperColumns) -> PrinterOptions {
    let address = PrinterAddress::parse(address).unwrap();
    PrinterOptions { address, columns, heading: "城西广场".to_owned() }
}

fn counter(columns: PaperColumns) -> Counter {
    let dir = tempfile::tempdir().unwrap();
    let paper = dir.path().join("paper");
    std::fs::write(&paper, "").unwrap();
    let options = options(paper.to_str().unwrap(), columns);
    Counter { w: World::with("/api", |mall| mall.printer(options)), paper, _dir: dir }
}

impl Counter {
    /// Takes the paper out of the printer.
    fn take(&self) -> Vec<u8> {
        let job = std::fs::read(&self.paper).unwrap();
        std::fs::write(&self.paper, "").unwrap();
        job
    }
}

fn paid(w: &World) -> (String, String) {
    paid_for(w, 1)
}

/// Buys a voucher, pays, and returns the order with its receipt code.
fn paid_for(w: &World, voucher: u64) -> (String, String) {
    let bought = w.ok("POST", &format!("/voucher-order/{voucher}"), &w.customer);
    let order = bought["dataText"].as_str().unwrap().to_owned();
    w.ok("POST", &format!("/voucher-order/{order}/pay"), &w.customer);
    let receipt = w.ok("GET", &format!("/voucher-order/{order}/receipt"), &w.customer);
    (order, receipt["data"]["code"].as_str().unwrap().to_owned())
}

/// Returns the code of the response to an operator's request to print; `""` for a success.
fn print(w: &World, order: &str) -> String {
    let response = w.call_once("POST", &format!("/ops/orders/{order}/print"), &w.operator, "");
    assert_eq!(response.status, 200, "{response:?}");
    response.body["code"].as_str().unwrap_or_default().to_owned()
}

fn state(w: &World) -> Value {
    w.ok("GET", "/ops/printer", &w.operator)["data"].clone()
}

#[test]
fn receipt_has_what_counter_and_customer_need() {
    let c = counter(PaperColumns::Narrow);
    let (order, code) = paid(&c.w);
    c.w.advance(Duration::from_secs(60));
    assert_eq!(print(&c.w, &order), "");
    let job = c.take();
    let want = format!(
        "    城西广场
           103茶餐厅
           金华路29号
--------------------------------
50元代金券
面值                     50.00元
实付                     47.50元
支付方式  模拟支付（非真实货款）
--------------------------------
订单号        {order}
下单         2026-11-21 20:00:00
支付         2026-11-21 20:00:00
打印         2026-11-21 20:01:00
--------------------------------
              券码
    {code}
[QR {}]
 请在店内出示，由店员扫码核销。
        本小票不是发票。



✂",
        code.replace('-', "")
    );
    let lines: Vec<String> = seen(&job, 32);
    assert_eq!(lines.join("\n"), want);
    assert!(job.starts_with(&[0x1B, b'@', 0x1C, b'&']));
    let looks: Vec<_> = printed(&job, 32)
        .into_iter()
        .filter_map(|one| match one {
            Printed::Line { text, is_bold: true, is_double } => Some((text.trim().to_owned(), is_double)),
            _ => None,
        })
        .collect();
    let bold = |text: &str, is_double| (text.to_owned(), is_double);
    let want =
        [bold("城西广场", true), bold("103茶餐厅", false), bold("50元代金券", false), bold(&code, false)];
    assert_eq!(looks, want);
    // The code on paper is that of the order, and can be redeemed.
    assert_eq!(c.w.ok("POST", &format!("/ops/receipts/{code}/use"), &c.w.operator)["data"]["id"], order);
}

#[test]
fn receipt_speaks_the_language_of_the_request_and_fills_wide_paper() {
    let c = counter(PaperColumns::Wide);
    let (order, _) = paid(&c.w);
    let headers = format!("authorization: {}\r\naccept-language: en\r\n", c.w.operator);
    let response = c.w.request("POST", &format!("/api/ops/orders/{order}/print"), &headers, b"");
    assert_eq!(response.body, json!({ "success": true, "data": { "time": "2026-11-21T20:00:00" } }));
    let lines = seen(&c.take(), 48);
    for line in [
        "-".repeat(48).as_str(),
        "Price                                  CNY 47.50",
        "Payment                      simulated, no money",
        "Paid                         2026-11-21 20:00:00",
        "    Show this code in the shop to redeem it.",
        "            This is not an invoice.",
    ] {
        assert!(lines.iter().any(|printed| printed == line), "{line}: {lines:#?}");
    }
}

#[test]
fn only_paid_orders_are_printed_and_others_are_refused_in_words() {
    let c = counter(PaperColumns::Narrow);
    let unpaid = c.w.ok("POST", "/voucher-order/1", &c.w.customer)["dataText"].as_str().unwrap().to_owned();
    let ((used, code), (refunded, _)) = (paid(&c.w), paid(&c.w));
    c.w.ok("POST", &format!("/ops/receipts/{code}/use"), &c.w.operator);
    c.w.ok("POST", &format!("/voucher-order/{refunded}/refund"), &c.w.customer);
    for (order, code, words) in [
        (&*unpaid, "ORDER_STANDS", "订单尚未支付"),
        (&used, "ORDER_STANDS", "订单已核销"),
        (&refunded, "ORDER_STANDS", "订单已退款"),
        ("7", "NOT_FOUND", "订单不存在"),
    ] {
        let response = c.w.call("POST", &format!("/ops/orders/{order}/print"), &c.w.operator, "");
        let shown = (&response.body["code"], &response.body["errorMsg"]);
        assert_eq!(shown, (&json!(code), &json!(words)), "{order}");
    }
    let response = c.w.call("POST", "/ops/orders/x/print", &c.w.operator, "");
    assert_eq!((response.status, &response.body["code"]), (400, &json!("BAD_REQUEST")));
    assert!(c.take().is_empty());
    assert!(state(&c.w)["last"].is_null());
    let audit = c.w.ok("GET", "/ops/audit?max=9", &c.w.operator).to_string();
    assert!(!audit.contains("receipt.print"), "nothing was done: {audit}");
}

#[test]
fn every_page_is_in_the_audit_log_and_the_last_one_in_the_state() {
    let c = counter(PaperColumns::Narrow);
    let (order, code) = paid(&c.w);
    let address = c.paper.to_str().unwrap();
    assert_eq!(state(&c.w), json!({ "configured": true, "address": address, "columns": 32 }));
    assert_eq!(print(&c.w, &order), "");
    let last = json!({ "time": "2026-11-21T20:00:00", "orderId": order, "printed": true });
    assert_eq!(state(&c.w)["last"], last);
    std::fs::remove_file(&c.paper).unwrap();
    let response = c.w.call("POST", "/ops/printer/test", &c.w.operator, "");
    let words = &response.body["errorMsg"];
    assert_eq!((response.status, &response.body["code"]), (200, &json!("PRINTER_MISSING")), "{response:?}");
    let last = json!({ "time": "2026-11-21T20:00:00", "printed": false, "code": "PRINTER_MISSING", "message": words });
    assert_eq!(state(&c.w)["last"], last);
    let audit = c.w.ok("GET", "/ops/audit?max=3", &c.w.operator)["data"].clone();
    let entry = |at: usize| (audit[at]["action"].clone(), audit[at]["subject"].clone());
    assert_eq!(entry(2), (json!("receipt.print"), json!(format!("order {order}"))));
    assert_eq!(entry(1), (json!("printer.test"), json!("printer")));
    assert_eq!(entry(0), entry(1));
    assert_eq!(audit[0]["detail"]["ended"], "refused");
    assert!(!audit.to_string().contains(&code));
}

#[test]
fn test_page_fits_both_papers_and_shows_their_width() {
    for (columns, width) in [(PaperColumns::Narrow, 32), (PaperColumns::Wide, 48)] {
        let c = counter(columns);
        c.w.ok("POST", "/ops/printer/test", &c.w.operator);
        let lines = seen(&c.take(), width);
        let ruler: String = "1234567890".chars().cycle().take(width).collect();
        assert!(
            lines.contains(&ruler) && lines.contains(&"[QR MALLBOX0TEST0PAGE000]".to_owned()),
            "{lines:#?}"
        );
        assert!(lines.iter().any(|line| line.contains("打印机测试页")), "{lines:#?}");
        assert_eq!(lines.last().map(String::as_str), Some("✂"));
    }
}

/// Names from an import, which may have any characters.
#[test]
fn names_of_shops_and_vouchers_contain_no_commands() {
    let c = counter(PaperColumns::Narrow);
    let hostile = "\u{1B}@茶\u{1D}V\u{0}\u{10}\u{4}\u{1}餐\u{7F}\u{80}👩\u{200D}🍳厅\r\n\u{1B}p0\u{1C}.";
    let catalogue = c.w.mall.app().unwrap().context.storage.catalogue.clone();
    let (shops, name) = (catalogue.shops.clone(), hostile.to_owned());
    let insert = async move {
        let known = shops.get(ShopId::new(1)).await.unwrap().unwrap().text;
        let text = ShopText { address: name.repeat(3), name, ..known };
        shops.insert(&text, EVENING).await.unwrap().get()
    };
    let shop = c.w.mall.wait_for(insert).unwrap();
    let mut form = voucher();
    form["shopId"] = json!(shop);
    let voucher = c.w.add("/voucher", &form);
    let edit = VoucherEdit { title: Some(hostile.to_owned()), ..VoucherEdit::default() };
    let update = async move {
        let token = FencingToken::new(1);
        catalogue.vouchers.update(VoucherId::new(voucher), &edit, token, EVENING).await.unwrap()
    };
    assert!(matches!(c.w.mall.wait_for(update).unwrap(), Fenced::Done(Some(_))));
    let (order, _) = paid_for(&c.w, voucher);
    assert_eq!(print(&c.w, &order), "");
    let job = c.take();
    let lines = seen(&job, 32);
    let shown = "〓@茶〓V〓餐〓厅  〓p0〓.";
    assert_eq!(lines.iter().filter(|line| line.trim() == shown).count(), 2, "{lines:#?}");
    assert_eq!(lines.iter().filter(|line| *line == "✂").count(), 1);
}

#[test]
fn printer_in_the_network_gets_the_receipt_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let w = World::with("/api", |mall| mall.printer(options(&address, PaperColumns::Narrow)));
    let paper = thread::spawn(move || {
        let mut job = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut job).unwrap();
        (job, listener)
    });
    let (order, code) = paid(&w);
    assert_eq!(print(&w, &order), "");
    let (job, listener) = paper.join().unwrap();
    let lines = seen(job.strip_prefix(&[0x10, 4, 2]).unwrap(), 32);
    assert!(lines.iter().any(|line| line.trim() == code), "{lines:#?}");
    drop(listener);
    assert_eq!(print(&w, &order), "PRINTER_REFUSED");
    assert_eq!(state(&w)["last"]["printed"], false);
}

#[test]
fn mall_without_a_printer_says_so() {
    let w = World::with("/api", |mall| mall);
    let (order, _) = paid(&w);
    assert_eq!(state(&w), json!({ "configured": false }));
    assert_eq!(print(&w, &order), "NO_PRINTER");
    assert_eq!(w.call("POST", "/ops/printer/test", &w.operator, "").body["code"], "NO_PRINTER");
}
