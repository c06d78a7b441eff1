//! X and Z reports on paper, as bytes. No clock, no store, no device.

use jiff::tz::TimeZone;
use mallbox_storage::{CashEntry, CashKind, CashSession, CashTotals, Cents, Timestamp, UserId};

use super::commands::{Align, Look};
use super::options::PrinterOptions;
use super::pages::{Page, time, yuan};
use crate::language::{Language, both, sentence};
use crate::mall::operator::cash::{Names, XReport, ZReport};

/// Returns the bytes of an X report, in one language, with times in `zone`. `now` is the time of printing.
pub(super) fn x_report(
    x: &XReport,
    options: &PrinterOptions,
    (now, zone): (Timestamp, &TimeZone),
    l: Language,
) -> Vec<u8> {
    let mut page = Page::new(options);
    page.heading(&options.heading);
    page.text(both("X报表（未交班）", "X report (running)").spoken(l), Align::Centre, Look::Bold);
    page.rule();
    opening(&mut page, &x.session, &x.names, zone, l);
    page.rule();
    sums(&mut page, &x.session, zone, l);
    page.pair(both("应有现金", "Expected").spoken(l), &yuan(x.session.expected(), l));
    moves(&mut page, &x.moves, &x.names, zone, l);
    page.rule();
    page.pair(both("打印", "Printed").spoken(l), &time(now, zone));
    end(page, l)
}

/// Returns the bytes of a Z report, in one language, with times in `zone`. `now` is the time of printing.
pub(super) fn z_report(
    z: &ZReport,
    options: &PrinterOptions,
    (now, zone): (Timestamp, &TimeZone),
    l: Language,
) -> Vec<u8> {
    let report = &z.report;
    let number = report.number;
    let mut page = Page::new(options);
    page.heading(&options.heading);
    page.text(&sentence!(l, "Z报表 {number}", "Z report {number}"), Align::Centre, Look::Bold);
    page.rule();
    opening(&mut page, &report.session, &z.names, zone, l);
    page.pair(both("交班", "Closed").spoken(l), &time(report.closed, zone));
    page.pair(both("交班人", "Closed by").spoken(l), &name(&z.names, report.closed_by, l));
    page.rule();
    sums(&mut page, &report.session, zone, l);
    page.pair(both("应有现金", "Expected").spoken(l), &yuan(report.expected, l));
    page.pair(both("实点现金", "Counted").spoken(l), &yuan(report.counted, l));
    page.pair(both("差额", "Difference").spoken(l), &yuan(report.difference(), l));
    moves(&mut page, &z.moves, &z.names, zone, l);
    page.rule();
    page.pair(both("摘要", "Digest").spoken(l), &mallbox_storage::hex(&report.digest()));
    page.pair(both("打印", "Printed").spoken(l), &time(now, zone));
    end(page, l)
}

fn opening(page: &mut Page, session: &CashSession, names: &Names, zone: &TimeZone, l: Language) {
    page.pair(both("收银台", "Till").spoken(l), session.till.as_str());
    page.pair(both("班次", "Session").spoken(l), &session.id.to_string());
    page.pair(both("开班", "Opened").spoken(l), &time(session.opened, zone));
    page.pair(both("开班人", "Opened by").spoken(l), &name(names, session.opened_by, l));
}

/// Prints the float and the sums of all kinds, each with its number of entries.
fn sums(page: &mut Page, session: &CashSession, zone: &TimeZone, l: Language) {
    let CashTotals { sales, sale_count, refunds, refund_count, .. } = session.totals;
    let CashTotals { paid_in, paid_in_count, paid_out, paid_out_count, .. } = session.totals;
    page.pair(both("备用金", "Float").spoken(l), &yuan(session.float, l));
    for (zh, en, sum, count) in [
        ("现金收款", "Cash sales", sales, sale_count),
        ("现金退款", "Cash refunds", negative(refunds), refund_count),
        ("存入", "Paid in", paid_in, paid_in_count),
        ("支出", "Paid out", negative(paid_out), paid_out_count),
    ] {
        page.pair(&sentence!(l, "{zh}（{count}笔）", "{en} ({count})"), &yuan(sum, l));
    }
    for (at, title) in [
        (session.first_payment, both("首笔", "First payment")),
        (session.last_payment, both("末笔", "Last payment")),
    ] {
        if let Some(at) = at {
            page.pair(title.spoken(l), &time(at, zone));
        }
    }
}

/// Prints cash paid in and out, each with time, person and reason.
fn moves(page: &mut Page, moves: &[CashEntry], names: &Names, zone: &TimeZone, l: Language) {
    if !moves.is_empty() {
        page.rule();
    }
    for entry in moves {
        let is_in = entry.kind == CashKind::PaidIn;
        let (title, amount) = if is_in {
            (both("存入", "Paid in"), entry.amount)
        } else {
            (both("支出", "Paid out"), negative(entry.amount))
        };
        page.pair(title.spoken(l), &yuan(amount, l));
        page.pair(&time(entry.at, zone), &name(names, entry.by, l));
        page.text(&entry.reason, Align::Left, Look::Plain);
    }
}

fn end(mut page: Page, l: Language) -> Vec<u8> {
    page.text(
        both("非税控设备出具，不作报税凭据。", "Not from a fiscal device.").spoken(l),
        Align::Centre,
        Look::Plain,
    );
    page.end()
}

fn negative(amount: Cents) -> Cents {
    Cents::new(amount.get().saturating_neg())
}

/// Returns the name of a user, or the id of a user without a name.
fn name(names: &Names, user: UserId, l: Language) -> String {
    match names.get(&user).filter(|name| !name.is_empty()) {
        Some(name) => name.clone(),
        None => sentence!(l, "用户{user}", "user {user}"),
    }
}
