//! A receipt as a text: what its owner needs where the mall cannot be reached.

use jiff::tz::TimeZone;
use mallbox_storage::Cents;

use super::Receipt;
use crate::language::{Language, both, sentence};
use crate::mall::base::wall_time;

/// Longest line, in characters: the text of any shop and voucher fits a QR code.
const LINE_CHARS_MAX: usize = 60;

/// Returns the lines of a receipt, with times in `zone`: shop, voucher, code, amounts, order, address and
/// opening hours.
#[must_use]
pub fn receipt_text(receipt: &Receipt, zone: &TimeZone, l: Language) -> String {
    let Receipt { order, voucher, shop, code } = receipt;
    let mut lines = Vec::new();
    if let Some(shop) = shop {
        lines.push(shop.text.name.clone());
    }
    lines.push(voucher.text.title.clone());
    lines.push(sentence!(l, "券码 {code}", "Code {code}"));
    let (value, price) = (yuan(voucher.text.actual_value), yuan(order.pay_value));
    lines.push(sentence!(l, "价值 {value}，实付 {price}", "Value {value}, paid {price}"));
    let id = order.id;
    lines.push(match order.paid.map(|paid| wall_time::spaced(paid, zone)) {
        Some(paid) => sentence!(l, "订单 {id}，支付于 {paid}", "Order {id}, paid {paid}"),
        None => sentence!(l, "订单 {id}", "Order {id}"),
    });
    for line in shop.iter().flat_map(|shop| [&shop.text.address, &shop.text.open_hours]) {
        lines.push(line.clone());
    }
    lines.push(both("到店出示券码即可使用。", "Show this code in the shop.").spoken(l).to_owned());
    let cut = lines.iter().map(|line| cut(line)).filter(|line| !line.is_empty());
    cut.collect::<Vec<_>>().join("\n")
}

/// Cuts a text to one line.
fn cut(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    }
}

/// Formats an amount, which is never negative; whole yuan without decimals.
fn yuan(amount: Cents) -> String {
    let yuan = amount.yuan();
    format!("¥{}", yuan.strip_suffix(".00").unwrap_or(&yuan))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_after_whole_characters() {
        assert_eq!(cut("  两\n行  "), "两 行");
        let long = cut(&"券".repeat(61));
        assert_eq!(long, format!("{}…", "券".repeat(60)));
        assert_eq!(cut(&"券".repeat(60)), "券".repeat(60));
    }

    #[test]
    fn amounts_show_cents_only_if_there_are_any() {
        assert_eq!(yuan(Cents::new(4_750)), "¥47.50");
        assert_eq!(yuan(Cents::new(5_000)), "¥50");
        assert_eq!(yuan(Cents::new(5)), "¥0.05");
    }
}
