//! Tampering with sales, vouchers and orders, and with orders' states against payments' states.

use super::{Kind, kind};

/// Kinds of tampering. A row is deleted by changing its key to an unused value to keep the change
/// reversible.
pub const KINDS: &[Kind] = &[
    // Sales and vouchers.
    kind("UPDATE sales SET initial = initial + 1", "UPDATE sales SET initial = initial - 1", "SALE_STOCK"),
    kind("UPDATE sales SET initial = initial - 1", "UPDATE sales SET initial = initial + 1", "SALE_EQUATION"),
    kind("UPDATE sales SET added = added + 3", "UPDATE sales SET added = added - 3", "SALE_UNITS_IN_MEMORY"),
    kind(
        "UPDATE sales SET initial = initial + 5, stock = stock + 5",
        "UPDATE sales SET initial = initial - 5, stock = stock - 5",
        "SALE_UNITS_IN_MEMORY",
    ),
    kind("UPDATE sales SET stock = stock - 1", "UPDATE sales SET stock = stock + 1", "SALE_STOCK"),
    kind("UPDATE sales SET initial = NULL", "UPDATE sales SET initial = 20", "SALE_LIMIT"),
    kind("UPDATE sales SET stock = NULL, added = 7", "UPDATE sales SET stock = 16, added = 2", "SALE_LIMIT"),
    kind(
        "UPDATE sales SET voucher_id = voucher_id + 900",
        "UPDATE sales SET voucher_id = voucher_id - 900",
        "ORDER_SALE",
    ),
    kind(
        "UPDATE sales SET voucher_id = voucher_id + 900",
        "UPDATE sales SET voucher_id = voucher_id - 900",
        "SALE_VOUCHER",
    ),
    kind(
        "UPDATE sales SET voucher_id = voucher_id + 900",
        "UPDATE sales SET voucher_id = voucher_id - 900",
        "LETTER_SALE",
    ),
    kind(
        "UPDATE sales SET voucher_id = voucher_id + 900",
        "UPDATE sales SET voucher_id = voucher_id - 900",
        "STOCK_CHANGE",
    ),
    kind(
        "UPDATE sales SET last_order = first_order",
        "UPDATE sales SET last_order = (SELECT MAX(id) FROM orders WHERE voucher_id = {sale}) + 999999999",
        "ORDER_RANGE",
    ),
    kind("UPDATE vouchers SET id = id + 900", "UPDATE vouchers SET id = id - 900", "ORDER_VOUCHER"),
    kind("UPDATE vouchers SET shop_id = 77", "UPDATE vouchers SET shop_id = 1", "VOUCHER_SHOP"),
    kind("UPDATE vouchers SET status = 9", "UPDATE vouchers SET status = 1", "VOUCHER_VALUES"),
    kind("UPDATE vouchers SET pay_value = -1", "UPDATE vouchers SET pay_value = 4750", "VOUCHER_VALUES"),
    kind("UPDATE vouchers SET pay_value = 1", "UPDATE vouchers SET pay_value = 4750", "ORDER_PRICE"),
    kind("UPDATE shops SET type_id = 77", "UPDATE shops SET type_id = 1", "SHOP_TYPE"),
    kind("UPDATE stock_changes SET applied = 9", "UPDATE stock_changes SET applied = 2", "STOCK_CHANGE"),
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
    kind(
        "UPDATE orders SET voucher_id = 900 WHERE user_id = {1}",
        "UPDATE orders SET voucher_id = {sale} WHERE user_id = {1}",
        "ORDER_VOUCHER",
    ),
    kind(
        "UPDATE orders SET voucher_id = 900 WHERE user_id = {1}",
        "UPDATE orders SET voucher_id = {sale} WHERE user_id = {1}",
        "ORDER_ID",
    ),
    kind(
        "UPDATE orders SET id = id + 3200000 WHERE user_id = {1}",
        "UPDATE orders SET id = id - 3200000 WHERE user_id = {1}",
        "ORDER_NUMBERS",
    ),
    // The day's ids read as plain counts.
    kind(
        "UPDATE sequences SET reserved = 4096 WHERE name = 'order'",
        "UPDATE sequences SET reserved = 1099511627776 WHERE name = 'order'",
        "ORDER_NUMBERS",
    ),
    kind(
        "UPDATE orders SET created_ms = created_ms - 5000 WHERE user_id = {1}",
        "UPDATE orders SET created_ms = created_ms + 5000 WHERE user_id = {1}",
        "ORDER_ID",
    ),
    kind(
        "UPDATE orders SET pay_value = 1 WHERE user_id = {1}",
        "UPDATE orders SET pay_value = 4750 WHERE user_id = {1}",
        "ORDER_PRICE",
    ),
    kind(
        "UPDATE orders SET pay_value = 1 WHERE user_id = {2}",
        "UPDATE orders SET pay_value = 4750 WHERE user_id = {2}",
        "PAYMENT_AMOUNT",
    ),
    kind(
        "UPDATE orders SET deadline_ms = 0 WHERE user_id = {1}",
        "UPDATE orders SET deadline_ms = created_ms + 900000 WHERE user_id = {1}",
        "ORDER_DEADLINE",
    ),
    kind(
        "UPDATE orders SET payment_mode = 9 WHERE user_id = {2}",
        "UPDATE orders SET payment_mode = 2 WHERE user_id = {2}",
        "ORDER_STATUS",
    ),
    kind(
        "UPDATE orders SET payment_mode = 1 WHERE user_id = {2}",
        "UPDATE orders SET payment_mode = 2 WHERE user_id = {2}",
        "PAYMENT_GATEWAY",
    ),
    kind(
        "UPDATE orders SET payment_mode = 0 WHERE user_id = {2}",
        "UPDATE orders SET payment_mode = 2 WHERE user_id = {2}",
        "PAYMENT_UNASKED",
    ),
    kind(
        "UPDATE orders SET status = 9 WHERE user_id = {1}",
        "UPDATE orders SET status = 1 WHERE user_id = {1}",
        "ORDER_STATUS",
    ),
    kind(
        "UPDATE orders SET status = 0 WHERE user_id = {1}",
        "UPDATE orders SET status = 1 WHERE user_id = {1}",
        "ORDER_STATUS",
    ),
    kind(
        "UPDATE orders SET paid_ms = NULL WHERE user_id = {2}",
        "UPDATE orders SET paid_ms = created_ms + 60000 WHERE user_id = {2}",
        "ORDER_INSTANTS",
    ),
    kind(
        "UPDATE orders SET paid_ms = created_ms - 1 WHERE user_id = {2}",
        "UPDATE orders SET paid_ms = created_ms + 60000 WHERE user_id = {2}",
        "PAYMENT_INSTANT",
    ),
    kind(
        "UPDATE orders SET used_ms = NULL WHERE user_id = {3}",
        "UPDATE orders SET used_ms = created_ms + 120000 WHERE user_id = {3}",
        "ORDER_INSTANTS",
    ),
    kind(
        "UPDATE orders SET used_ms = 5 WHERE user_id = {3}",
        "UPDATE orders SET used_ms = created_ms + 120000 WHERE user_id = {3}",
        "ORDER_INSTANTS",
    ),
    kind(
        "UPDATE orders SET used_ms = created_ms WHERE user_id = {1}",
        "UPDATE orders SET used_ms = NULL WHERE user_id = {1}",
        "ORDER_INSTANTS",
    ),
    kind(
        "UPDATE orders SET refunded_ms = NULL WHERE user_id = {6}",
        "UPDATE orders SET refunded_ms = created_ms + 120000 WHERE user_id = {6}",
        "ORDER_INSTANTS",
    ),
    kind(
        "UPDATE orders SET user_id = {11} WHERE user_id = {1}",
        "UPDATE orders SET user_id = {1} WHERE user_id = {11}",
        "ORDER_BUYER",
    ),
    // Orders' states against payments' states.
    kind(
        "UPDATE orders SET status = 1 WHERE user_id = {2}",
        "UPDATE orders SET status = 2 WHERE user_id = {2}",
        "PAYMENT_ON_UNPAID",
    ),
    kind(
        "UPDATE orders SET status = 2 WHERE user_id = {1}",
        "UPDATE orders SET status = 1 WHERE user_id = {1}",
        "PAYMENT_MISSING",
    ),
    kind(
        "UPDATE orders SET status = 3 WHERE user_id = {1}",
        "UPDATE orders SET status = 1 WHERE user_id = {1}",
        "PAYMENT_MISSING",
    ),
    kind(
        "UPDATE orders SET status = 3 WHERE user_id = {2}",
        "UPDATE orders SET status = 2 WHERE user_id = {2}",
        "ORDER_INSTANTS",
    ),
    kind(
        "UPDATE orders SET status = 2 WHERE user_id = {3}",
        "UPDATE orders SET status = 3 WHERE user_id = {3}",
        "ORDER_INSTANTS",
    ),
    kind(
        "UPDATE orders SET status = 5 WHERE user_id = {2}",
        "UPDATE orders SET status = 2 WHERE user_id = {2}",
        "PAYMENT_UNWATCHED",
    ),
    kind(
        "UPDATE orders SET status = 2 WHERE user_id = {4}",
        "UPDATE orders SET status = 5 WHERE user_id = {4}",
        "PAYMENT_UNWATCHED",
    ),
    kind(
        "UPDATE orders SET status = 6 WHERE user_id = {4}",
        "UPDATE orders SET status = 5 WHERE user_id = {4}",
        "PAYMENT_ON_REFUNDED",
    ),
    kind(
        "UPDATE orders SET status = 4 WHERE user_id = {4}",
        "UPDATE orders SET status = 5 WHERE user_id = {4}",
        "PAYMENT_ON_CANCELLED",
    ),
    kind(
        "UPDATE orders SET status = 6 WHERE user_id = {5}",
        "UPDATE orders SET status = 4 WHERE user_id = {5}",
        "REFUND_MISSING",
    ),
    kind(
        "UPDATE orders SET status = 2 WHERE user_id = {6}",
        "UPDATE orders SET status = 6 WHERE user_id = {6}",
        "PAYMENT_MISSING",
    ),
    kind(
        "UPDATE orders SET status = 4 WHERE user_id = {6}",
        "UPDATE orders SET status = 6 WHERE user_id = {6}",
        "ORDER_INSTANTS",
    ),
    kind(
        "UPDATE orders SET status = 4 WHERE user_id = {1}",
        "UPDATE orders SET status = 1 WHERE user_id = {1}",
        "SALE_STOCK",
    ),
    kind(
        "UPDATE orders SET status = 1 WHERE user_id = {5}",
        "UPDATE orders SET status = 4 WHERE user_id = {5}",
        "SALE_TAKEN_IN_MEMORY",
    ),
];
