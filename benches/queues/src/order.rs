//! The messages: orders with a number each, so that lost, repeated and overtaken ones are counted exactly.

use serde::{Deserialize, Serialize};

/// Numbers from here on mark the end of an experiment: a consumer stops there.
pub(crate) const END: u64 = 1 << 40;
/// The voucher of every order.
const VOUCHER: u64 = 10;

/// An order on its way from the request to the worker, with the fields of the tutorials.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Order {
    /// Number of the message, rising in the order of sending.
    #[serde(rename = "id")]
    pub(crate) number: u64,
    pub(crate) user_id: u64,
    pub(crate) voucher_id: u64,
    /// Filler that makes a message large, where a bound counts bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) pad: String,
}

impl Order {
    pub(crate) fn new(number: u64) -> Self {
        Self { number, user_id: number, voucher_id: VOUCHER, pad: String::new() }
    }

    /// Adds `bytes` of filler.
    pub(crate) fn padded(number: u64, bytes: usize) -> Self {
        Self { pad: "x".repeat(bytes), ..Self::new(number) }
    }

    /// Returns the order as JSON.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads an order from JSON.
    pub(crate) fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_the_json_of_the_tutorials() {
        let order = Order::new(7);
        assert_eq!(order.text(), r#"{"id":7,"userId":7,"voucherId":10}"#);
        assert_eq!(Order::read(&order.text()).unwrap(), order);
        assert_eq!(Order::read(&Order::padded(7, 3).text()).unwrap().pad, "xxx");
    }
}
