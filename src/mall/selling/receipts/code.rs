//! Receipt codes: order ids with a message authentication code, easy to type and hard to forge.
//!
//! Reasons and figures: `src/decisions/0014-receipt-codes.md`.

use std::fmt;

use mallbox_storage::OrderId;

use crate::mall::base::hmac::hmac_sha256;

/// Crockford's Base32 digits: without I, L, O and U. Readers take O as 0, and I and L as 1.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Digits of 5 bits each: 13 for the order id, 6 for the authentication code, 1 check digit.
const LENGTH: usize = 20;
const OF_ORDER: usize = 13;
const OF_PROOF: usize = 6;
/// Digits per group, between dashes.
const GROUP: usize = 4;

/// A receipt code such as `1AQX-0X5R-…`.
///
/// Holds the order id and a message authentication code of 30 bits under the mall's secret. Only operators
/// can try codes. Order ids of one second are sequential, but the code of an order says nothing about the
/// next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ReceiptCode([u8; LENGTH]);

impl ReceiptCode {
    /// Returns an order's code under the mall's secret.
    pub(super) fn of(order: OrderId, secret: &str) -> Self {
        let mut digits = [0; LENGTH];
        let (number, rest) = digits.split_at_mut(OF_ORDER);
        write(number, order.get());
        write(&mut rest[..OF_PROOF], proof(order, secret));
        digits[LENGTH - 1] = check(&digits[..LENGTH - 1]);
        Self(digits)
    }

    /// Parses a typed or scanned code. Ignores case, spaces and dashes. `None` if the length, a digit or the
    /// check digit is wrong.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut digits = [0; LENGTH];
        let mut typed = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '–' | '—' | '－'));
        for digit in &mut digits {
            *digit = value(typed.next()?)?;
        }
        let (last, others) = digits.split_last()?;
        (typed.next().is_none() && check(others) == *last).then_some(Self(digits))
    }

    /// Returns the order id claimed by the code. Authentic only if [`of`](Self::of) yields the same code.
    pub(super) fn order(&self) -> OrderId {
        OrderId::new(self.0[..OF_ORDER].iter().fold(0, |number, digit| number << 5 | u64::from(*digit)))
    }

    /// Returns the digits without dashes, for a scanner.
    #[must_use]
    pub fn plain(&self) -> String {
        self.0.iter().map(|digit| char::from(DIGITS[usize::from(*digit)])).collect()
    }
}

/// Formats the digits in groups, for people.
impl fmt::Display for ReceiptCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.plain();
        let groups: Vec<&str> =
            (0..LENGTH).step_by(GROUP).filter_map(|at| plain.get(at..at + GROUP)).collect();
        f.write_str(&groups.join("-"))
    }
}

/// Writes the lowest bits of a number, most significant digit first.
fn write(digits: &mut [u8], number: u64) {
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = (rest & 31) as u8;
        rest >>= 5;
    }
}

fn value(c: char) -> Option<u8> {
    let c = match c.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    };
    let at = DIGITS.iter().position(|digit| char::from(*digit) == c)?;
    u8::try_from(at).ok()
}

fn proof(order: OrderId, secret: &str) -> u64 {
    let tag = hmac_sha256(secret.as_bytes(), &[b"receipt ", &order.get().to_be_bytes()]);
    tag.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns the check digit, which detects any single wrong digit and any transposition of two digits: a sum
/// over the field of 32 elements with a distinct weight per position.
fn check(digits: &[u8]) -> u8 {
    digits.iter().fold(0, |sum, digit| doubled(sum ^ digit))
}

/// Multiplies by x modulo x⁵ + x² + 1, where x generates all 31 non-zero elements.
fn doubled(element: u8) -> u8 {
    let shifted = element << 1;
    if shifted & 32 == 0 { shifted } else { shifted ^ 0b10_0101 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "of this mall";
    const ORDER: OrderId = OrderId::new(662_319_245_210_910_723);

    fn shown(order: OrderId) -> String {
        ReceiptCode::of(order, SECRET).to_string()
    }

    #[test]
    fn a_code_is_read_however_it_is_typed_and_names_its_order() {
        let code = shown(ORDER);
        assert_eq!(code.len(), 24);
        assert_eq!(code, shown(ORDER));
        let plain = code.replace('-', "");
        let looks_alike = plain.replace('0', "o").replace('1', "l");
        for typed in [code.clone(), plain.clone(), code.to_lowercase(), code.replace('-', " — "), looks_alike]
        {
            let read = ReceiptCode::read(&typed).unwrap();
            assert_eq!(
                (read.order(), read.to_string(), read.plain()),
                (ORDER, code.clone(), plain.clone()),
                "{typed}"
            );
        }
        for order in [0, 1, i64::MAX.unsigned_abs(), u64::MAX].map(OrderId::new) {
            assert_eq!(ReceiptCode::read(&shown(order)).unwrap().order(), order);
        }
    }

    #[test]
    fn any_wrong_digit_and_any_two_that_changed_places_are_found() {
        let code = ReceiptCode::of(ORDER, SECRET);
        let text = |digits: [u8; LENGTH]| ReceiptCode(digits).plain();
        for at in 0..LENGTH {
            for wrong in (0..32).filter(|digit| *digit != code.0[at]) {
                let mut digits = code.0;
                digits[at] = wrong;
                assert!(ReceiptCode::read(&text(digits)).is_none(), "{at} {wrong}");
            }
            for other in (at + 1..LENGTH).filter(|other| code.0[*other] != code.0[at]) {
                let mut digits = code.0;
                digits.swap(at, other);
                assert!(ReceiptCode::read(&text(digits)).is_none(), "{at} {other}");
            }
        }
        let plain = code.plain();
        for typed in ["", "-", &plain[1..], &format!("{plain}0"), &plain.replace(&plain[..1], "U"), "茶"] {
            assert!(ReceiptCode::read(typed).is_none(), "{typed}");
        }
    }

    #[test]
    fn a_code_cannot_be_made_from_another_orders_or_without_the_secret() {
        let next = OrderId::new(ORDER.get() + 1);
        let (here, there) = (ReceiptCode::of(ORDER, SECRET), ReceiptCode::of(ORDER, "of another mall"));
        let proof = |code: ReceiptCode| code.0[OF_ORDER..LENGTH - 1].to_vec();
        assert_ne!(proof(here), proof(there));
        assert_ne!(proof(here), proof(ReceiptCode::of(next, SECRET)));
    }
}
