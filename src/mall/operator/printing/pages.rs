//! The pages that a printer prints: receipts and test pages, as bytes. No clock, no store, no device.

use jiff::tz::TimeZone;
use mallbox_storage::{Cents, PaymentMode, Timestamp};

use super::characters::{printable, wrapped};
use super::commands::{Align, Commands, Look};
use super::options::PrinterOptions;
use crate::language::{Bilingual, Language, both, columns, padded, padded_left, sentence};
use crate::mall::base::wall_time;
use crate::mall::selling::receipts::Receipt;

/// Text of the QR code of a test page.
const TEST_QR: &str = "MALLBOX0TEST0PAGE000";

/// Returns the bytes of a receipt, in one language, with times in `zone`. `now` is the time of printing.
pub(super) fn receipt(
    receipt: &Receipt,
    options: &PrinterOptions,
    (now, zone): (Timestamp, &TimeZone),
    l: Language,
) -> Vec<u8> {
    let Receipt { order, voucher, shop, code } = receipt;
    let mut page = Page::new(options);
    page.heading(&options.heading);
    if let Some(shop) = shop {
        page.text(&shop.text.name, Align::Centre, Look::Bold);
        page.text(&shop.text.address, Align::Centre, Look::Plain);
    }
    page.rule();
    page.text(&voucher.text.title, Align::Left, Look::Bold);
    page.pair(both("面值", "Value").spoken(l), &yuan(voucher.text.actual_value, l));
    page.pair(both("实付", "Price").spoken(l), &yuan(order.pay_value, l));
    page.pair(both("支付方式", "Payment").spoken(l), payment(order.payment).spoken(l));
    page.rule();
    page.pair(both("订单号", "Order").spoken(l), &order.id.to_string());
    page.pair(both("下单", "Ordered").spoken(l), &time(order.created, zone));
    if let Some(paid) = order.paid {
        page.pair(both("支付", "Paid").spoken(l), &time(paid, zone));
    }
    page.pair(both("打印", "Printed").spoken(l), &time(now, zone));
    page.rule();
    page.text(both("券码", "Code").spoken(l), Align::Centre, Look::Plain);
    page.text(&code.to_string(), Align::Centre, Look::Bold);
    page.qr(&code.plain());
    page.text(
        both("请在店内出示，由店员扫码核销。", "Show this code in the shop to redeem it.").spoken(l),
        Align::Centre,
        Look::Plain,
    );
    page.text(both("本小票不是发票。", "This is not an invoice.").spoken(l), Align::Centre, Look::Plain);
    page.end()
}

/// Returns the bytes of a page that shows whether paper, characters and QR codes are right.
pub(super) fn trial(options: &PrinterOptions, (now, zone): (Timestamp, &TimeZone), l: Language) -> Vec<u8> {
    let mut page = Page::new(options);
    page.heading(&options.heading);
    page.text(both("打印机测试页", "Printer test").spoken(l), Align::Centre, Look::Bold);
    page.rule();
    page.pair(both("时间", "Time").spoken(l), &time(now, zone));
    page.pair(both("打印机", "Printer").spoken(l), &options.address.to_string());
    page.pair(both("每行字符", "Columns").spoken(l), &page.width.to_string());
    page.ruler();
    let other = options.columns.other().count();
    page.text(
        &sentence!(
            l,
            "上面的数字应该正好占满一行，否则请改用--printer-columns {other}。",
            "The digits above should fill exactly one line; otherwise use --printer-columns {other}.",
        ),
        Align::Left,
        Look::Plain,
    );
    page.text("中文：店铺、代金券、二维码", Align::Left, Look::Plain);
    page.text("ABC abc 0123456789 -:/.", Align::Left, Look::Plain);
    page.qr(TEST_QR);
    page.end()
}

/// Lines that fit a paper.
pub(super) struct Page {
    commands: Commands,
    /// Columns per line.
    width: usize,
}

impl Page {
    pub(super) fn new(options: &PrinterOptions) -> Self {
        Self { commands: Commands::new(), width: options.columns.count() }
    }

    pub(super) fn heading(&mut self, text: &str) {
        self.text(text, Align::Centre, Look::Double);
    }

    pub(super) fn text(&mut self, text: &str, align: Align, look: Look) {
        let width = if look == Look::Double { self.width / 2 } else { self.width };
        for line in wrapped(&printable(text), width) {
            self.commands.line(&line, align, look);
        }
    }

    /// Prints a name at the left and a value at the right, below each other if one line is too short.
    pub(super) fn pair(&mut self, name: &str, value: &str) {
        let value = printable(value);
        if columns(name) + 1 + columns(&value) <= self.width {
            let line = padded(name, self.width - columns(&value)) + &value;
            return self.commands.line(&line, Align::Left, Look::Plain);
        }
        self.text(name, Align::Left, Look::Plain);
        for line in wrapped(&value, self.width) {
            self.commands.line(&padded_left(&line, self.width), Align::Left, Look::Plain);
        }
    }

    pub(super) fn rule(&mut self) {
        self.commands.line(&"-".repeat(self.width), Align::Left, Look::Plain);
    }

    fn ruler(&mut self) {
        let digits: String = "1234567890".chars().cycle().take(self.width).collect();
        self.commands.line(&digits, Align::Left, Look::Plain);
    }

    fn qr(&mut self, text: &str) {
        self.commands.qr(text);
    }

    pub(super) fn end(mut self) -> Vec<u8> {
        /// Lines below the text, to tear the paper off where there is no knife.
        const MARGIN_LINES: u8 = 3;
        self.commands.feed(MARGIN_LINES);
        self.commands.cut()
    }
}

/// Formats an amount. `¥` is no character of printers.
pub(super) fn yuan(amount: Cents, l: Language) -> String {
    let yuan = amount.yuan();
    sentence!(l, "{yuan}元", "CNY {yuan}")
}

pub(super) fn time(at: Timestamp, zone: &TimeZone) -> String {
    wall_time::spaced(at, zone)
}

fn payment(mode: PaymentMode) -> Bilingual {
    match mode {
        PaymentMode::None => both("无需支付", "no payment"),
        PaymentMode::Sandbox => both("模拟支付（非真实货款）", "simulated, no money"),
        PaymentMode::Counter => both("柜台付款", "at the counter"),
        PaymentMode::Webhook => both("在线支付", "online"),
    }
}
