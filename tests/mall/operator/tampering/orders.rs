//! Tampering with sales, vouchers and orders, and with orders' states against payments' states.

use super::{Kind, kind};

/// Kinds of tampering. A row is deleted by changing its key to an unused value to keep the change
/// reversible.
pub const KINDS: &[Kind] = &[
    // Sales and vouchers.
    update!("sales", "initial = initial + 1", "initial = initial - 1", "SALE_STOCK"),
    update!("sales", "initial = initial - 1", "initial = initial + 1", "SALE_EQUATION"),
    update!("sales", "added = added + 3", "added = added - 3", "SALE_UNITS_IN_MEMORY"),
    update!(
        "sales",
        "initial = initial + 5, stock = stock + 5",
        "initial = initial - 5, stock = stock - 5",
        "SALE_UNITS_IN_MEMORY"
    ),
    update!("sales", "stock = stock - 1", "stock = stock + 1", "SALE_STOCK"),
    update!("sales", "initial = NULL", "initial = 20", "SALE_LIMIT"),
    update!("sales", "stock = NULL, added = 7", "stock = 16, added = 2", "SALE_LIMIT"),
    update!("sales", "voucher_id = voucher_id + 900", "voucher_id = voucher_id - 900", "ORDER_SALE"),
    update!("sales", "voucher_id = voucher_id + 900", "voucher_id = voucher_id - 900", "SALE_VOUCHER"),
    update!("sales", "voucher_id = voucher_id + 900", "voucher_id = voucher_id - 900", "LETTER_SALE"),
    update!("sales", "voucher_id = voucher_id + 900", "voucher_id = voucher_id - 900", "STOCK_CHANGE"),
    update!(
        "sales",
        "last_order = first_order",
        "last_order = (SELECT MAX(id) FROM orders WHERE voucher_id = {sale}) + 999999999",
        "ORDER_RANGE"
    ),
    update!("vouchers", "id = id + 900", "id = id - 900", "ORDER_VOUCHER"),
    update!("vouchers", "shop_id = 77", "shop_id = 1", "VOUCHER_SHOP"),
    update!("vouchers", "status = 9", "status = 1", "VOUCHER_VALUES"),
    update!("vouchers", "pay_value = -1", "pay_value = 4750", "VOUCHER_VALUES"),
    update!("vouchers", "pay_value = 1", "pay_value = 4750", "ORDER_PRICE"),
    update!("shops", "type_id = 77", "type_id = 1", "SHOP_TYPE"),
    update!("stock_changes", "applied = 9", "applied = 2", "STOCK_CHANGE"),
    // Orders: user, voucher, price, time.
    kind(
        "UPDATE users SET id = 900 WHERE id = {1}",
        "UPDATE users SET id = {1} WHERE id = 900",
        "ORDER_USER",
    ),
    kind(
        "UPDATE orders SET user_id = 900 WHERE user_id = {1}",
        "UPDATE orders SET user_id = {1} WHERE user_id = 900",
        "ORDER_USER",
    ),
    update!("orders", "user_id = {1}", "voucher_id = 900", "voucher_id = {sale}", "ORDER_VOUCHER"),
    update!("orders", "user_id = {1}", "voucher_id = 900", "voucher_id = {sale}", "ORDER_ID"),
    update!("orders", "user_id = {1}", "id = id + 3200000", "id = id - 3200000", "ORDER_NUMBERS"),
    // The day's ids read as plain counts.
    update!("sequences", "name = 'order'", "reserved = 4096", "reserved = 1099511627776", "ORDER_NUMBERS"),
    update!(
        "orders",
        "user_id = {1}",
        "created_ms = created_ms - 5000",
        "created_ms = created_ms + 5000",
        "ORDER_ID"
    ),
    update!("orders", "user_id = {1}", "pay_value = 1", "pay_value = 4750", "ORDER_PRICE"),
    update!("orders", "user_id = {2}", "pay_value = 1", "pay_value = 4750", "PAYMENT_AMOUNT"),
    update!(
        "orders",
        "user_id = {1}",
        "deadline_ms = 0",
        "deadline_ms = created_ms + 900000",
        "ORDER_DEADLINE"
    ),
    update!("orders", "user_id = {2}", "payment_mode = 9", "payment_mode = 2", "ORDER_STATUS"),
    update!("orders", "user_id = {2}", "payment_mode = 1", "payment_mode = 2", "PAYMENT_GATEWAY"),
    update!("orders", "user_id = {2}", "payment_mode = 0", "payment_mode = 2", "PAYMENT_UNASKED"),
    update!("orders", "user_id = {1}", "status = 9", "status = 1", "ORDER_STATUS"),
    update!("orders", "user_id = {1}", "status = 0", "status = 1", "ORDER_STATUS"),
    update!("orders", "user_id = {2}", "paid_ms = NULL", "paid_ms = created_ms + 60000", "ORDER_INSTANTS"),
    update!(
        "orders",
        "user_id = {2}",
        "paid_ms = created_ms - 1",
        "paid_ms = created_ms + 60000",
        "PAYMENT_INSTANT"
    ),
    update!("orders", "user_id = {3}", "used_ms = NULL", "used_ms = created_ms + 120000", "ORDER_INSTANTS"),
    update!("orders", "user_id = {3}", "used_ms = 5", "used_ms = created_ms + 120000", "ORDER_INSTANTS"),
    update!("orders", "user_id = {1}", "used_ms = created_ms", "used_ms = NULL", "ORDER_INSTANTS"),
    update!(
        "orders",
        "user_id = {6}",
        "refunded_ms = NULL",
        "refunded_ms = created_ms + 120000",
        "ORDER_INSTANTS"
    ),
    kind(
        "UPDATE orders SET user_id = {11} WHERE user_id = {1}",
        "UPDATE orders SET user_id = {1} WHERE user_id = {11}",
        "ORDER_BUYER",
    ),
    // Orders' states against payments' states.
    update!("orders", "user_id = {2}", "status = 1", "status = 2", "PAYMENT_ON_UNPAID"),
    update!("orders", "user_id = {1}", "status = 2", "status = 1", "PAYMENT_MISSING"),
    update!("orders", "user_id = {1}", "status = 3", "status = 1", "PAYMENT_MISSING"),
    update!("orders", "user_id = {2}", "status = 3", "status = 2", "ORDER_INSTANTS"),
    update!("orders", "user_id = {3}", "status = 2", "status = 3", "ORDER_INSTANTS"),
    update!("orders", "user_id = {2}", "status = 5", "status = 2", "PAYMENT_UNWATCHED"),
    update!("orders", "user_id = {4}", "status = 2", "status = 5", "PAYMENT_UNWATCHED"),
    update!("orders", "user_id = {4}", "status = 6", "status = 5", "PAYMENT_ON_REFUNDED"),
    update!("orders", "user_id = {4}", "status = 4", "status = 5", "PAYMENT_ON_CANCELLED"),
    update!("orders", "user_id = {5}", "status = 6", "status = 4", "REFUND_MISSING"),
    update!("orders", "user_id = {6}", "status = 2", "status = 6", "PAYMENT_MISSING"),
    update!("orders", "user_id = {6}", "status = 4", "status = 6", "ORDER_INSTANTS"),
    update!("orders", "user_id = {1}", "status = 4", "status = 1", "SALE_STOCK"),
    update!("orders", "user_id = {5}", "status = 1", "status = 4", "SALE_TAKEN_IN_MEMORY"),
];
