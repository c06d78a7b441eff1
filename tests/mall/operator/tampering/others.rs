//! Tampering with payments, dead letters, users and their writings, and tampering possible on a single
//! engine.

use mallbox_test_servers::Sql;

use super::{Kind, kind};

/// Kinds of tampering. A row is deleted by changing its key to an unused value to keep the change
/// reversible.
pub const KINDS: &[Kind] = &[
    // Payments.
    kind(
        "UPDATE payments SET order_id = order_id + 7 WHERE id = 1",
        "UPDATE payments SET order_id = order_id - 7 WHERE id = 1",
        "PAYMENT_ORDER",
    ),
    kind(
        "UPDATE payments SET order_id = order_id + 7 WHERE id = 1",
        "UPDATE payments SET order_id = order_id - 7 WHERE id = 1",
        "PAYMENT_MISSING",
    ),
    kind(
        "UPDATE payments SET gateway = 1 WHERE id = 1",
        "UPDATE payments SET gateway = 2 WHERE id = 1",
        "PAYMENT_GATEWAY",
    ),
    kind(
        "UPDATE payments SET gateway = 9 WHERE id = 1",
        "UPDATE payments SET gateway = 2 WHERE id = 1",
        "PAYMENT_GATEWAY",
    ),
    kind(
        "UPDATE payments SET amount = amount - 1 WHERE id = 1",
        "UPDATE payments SET amount = amount + 1 WHERE id = 1",
        "PAYMENT_AMOUNT",
    ),
    kind(
        "UPDATE payments SET state = 0 WHERE id = 1",
        "UPDATE payments SET state = 1 WHERE id = 1",
        "PAYMENT_MISSING",
    ),
    kind(
        "UPDATE payments SET state = 0 WHERE id = 1",
        "UPDATE payments SET state = 1 WHERE id = 1",
        "PAYMENT_UNWATCHED",
    ),
    kind(
        "UPDATE payments SET state = 2 WHERE id = 1",
        "UPDATE payments SET state = 1 WHERE id = 1",
        "PAYMENT_MISSING",
    ),
    kind(
        "UPDATE payments SET state = 3 WHERE id = 1",
        "UPDATE payments SET state = 1 WHERE id = 1",
        "PAYMENT_MISSING",
    ),
    kind(
        "UPDATE payments SET state = 8 WHERE id = 1",
        "UPDATE payments SET state = 1 WHERE id = 1",
        "PAYMENT_STATE",
    ),
    kind(
        "UPDATE payments SET updated_ms = 9 WHERE id = 1",
        "UPDATE payments SET updated_ms = (SELECT paid_ms FROM orders WHERE user_id = {2}) WHERE id = 1",
        "PAYMENT_INSTANT",
    ),
    kind(
        "UPDATE payments SET state = 1 WHERE state = 2",
        "UPDATE payments SET state = 2 WHERE order_id = (SELECT id FROM orders WHERE user_id = {6})",
        "PAYMENT_ON_REFUNDED",
    ),
    kind(
        "UPDATE payments SET needs_look = 1 WHERE id = 1",
        "UPDATE payments SET needs_look = 0 WHERE id = 1",
        "PAYMENT_UNWATCHED",
    ),
    // Dead letters, purchases, units being returned, sequences.
    kind("UPDATE dead_letters SET user_id = 900", "UPDATE dead_letters SET user_id = {8}", "LETTER_USER"),
    kind(
        "UPDATE dead_letters SET voucher_id = 900",
        "UPDATE dead_letters SET voucher_id = {sale}",
        "LETTER_SALE",
    ),
    kind("UPDATE dead_letters SET holds_unit = 0", "UPDATE dead_letters SET holds_unit = 1", "SALE_STOCK"),
    kind("UPDATE dead_letters SET state = 7", "UPDATE dead_letters SET state = 0", "LETTER_STATE"),
    kind("UPDATE dead_letters SET state = 1", "UPDATE dead_letters SET state = 0", "LETTER_ORDER"),
    kind("UPDATE dead_letters SET state = 2", "UPDATE dead_letters SET state = 0", "LETTER_UNIT"),
    kind(
        "UPDATE dead_letters SET closed_ms = 5",
        "UPDATE dead_letters SET closed_ms = NULL",
        "LETTER_INSTANTS",
    ),
    kind(
        "UPDATE dead_letters SET reason = 'OVERSOLD'",
        "UPDATE dead_letters SET reason = 'REFUSED'",
        "LETTER_UNIT",
    ),
    kind(
        "UPDATE dead_letters SET reason = 'BECAUSE'",
        "UPDATE dead_letters SET reason = 'REFUSED'",
        "LETTER_STATE",
    ),
    kind(
        "UPDATE orders SET user_id = {11} WHERE user_id = {10}",
        "UPDATE orders SET user_id = {10} WHERE user_id = {11}",
        "PURCHASE_ORDER",
    ),
    kind(
        "UPDATE purchases SET order_id = 5",
        "UPDATE purchases SET order_id = (SELECT id FROM orders WHERE user_id = {10})",
        "PURCHASE_ORDER",
    ),
    kind(
        "INSERT INTO outbox_releases (order_id, voucher_id, user_id) SELECT id, voucher_id, user_id FROM orders WHERE user_id = {1}",
        "DELETE FROM outbox_releases",
        "OUTBOX_ORDER",
    ),
    kind(
        "INSERT INTO outbox_releases (order_id, voucher_id, user_id) VALUES (5, {sale}, {1})",
        "DELETE FROM outbox_releases",
        "OUTBOX_ORDER",
    ),
    // Users and their writings.
    kind(
        "UPDATE users SET role = 7 WHERE id = {12}",
        "UPDATE users SET role = 0 WHERE id = {12}",
        "USER_RIGHTS",
    ),
    kind(
        "UPDATE users SET block_reason = 'x' WHERE id = {12}",
        "UPDATE users SET block_reason = NULL WHERE id = {12}",
        "USER_RIGHTS",
    ),
    kind(
        "UPDATE users SET deleted_ms = 5 WHERE id = {12}",
        "UPDATE users SET deleted_ms = NULL WHERE id = {12}",
        "DELETED_USER",
    ),
    kind("UPDATE user_info SET user_id = 900", "UPDATE user_info SET user_id = {1}", "CARD_USER"),
    kind("UPDATE notes SET user_id = 900", "UPDATE notes SET user_id = {1}", "NOTE_USER"),
    kind("UPDATE notes SET status = 8", "UPDATE notes SET status = 1", "NOTE_STATUS"),
    kind("UPDATE notes SET comments = 5", "UPDATE notes SET comments = 2", "NOTE_COMMENTS"),
    kind("UPDATE notes SET likes = 5", "UPDATE notes SET likes = 1", "LIKES"),
    kind("UPDATE notes SET id = 900", "UPDATE notes SET id = 1", "COMMENT_NOTE"),
    kind(
        "INSERT INTO note_pictures (name, note_id) VALUES ('/blogs/x.jpg', 900)",
        "DELETE FROM note_pictures",
        "NOTE_PICTURE",
    ),
    kind(
        "UPDATE note_comments SET status = 2 WHERE id = 1",
        "UPDATE note_comments SET status = 1 WHERE id = 1",
        "NOTE_COMMENTS",
    ),
    kind("UPDATE note_comments SET user_id = 900", "UPDATE note_comments SET user_id = {2}", "COMMENT_USER"),
    kind(
        "UPDATE note_comments SET parent_id = 900 WHERE id = 2",
        "UPDATE note_comments SET parent_id = 1 WHERE id = 2",
        "COMMENT_PARENT",
    ),
    kind(
        "UPDATE note_comments SET status = 8 WHERE id = 2",
        "UPDATE note_comments SET status = 0 WHERE id = 2",
        "COMMENT_STATUS",
    ),
    kind(
        "UPDATE note_comments SET likes = 4 WHERE id = 1",
        "UPDATE note_comments SET likes = 1 WHERE id = 1",
        "LIKES",
    ),
    kind("UPDATE likes SET user_id = 900", "UPDATE likes SET user_id = {3}", "LIKE_TARGET"),
    kind(
        "UPDATE likes SET target_id = 900 WHERE kind = 1",
        "UPDATE likes SET target_id = 1 WHERE kind = 1",
        "LIKE_TARGET",
    ),
    kind("UPDATE follows SET followee_id = 900", "UPDATE follows SET followee_id = {2}", "FOLLOW_USER"),
    kind(
        "INSERT INTO authors_with_many_fans (user_id) VALUES (900)",
        "DELETE FROM authors_with_many_fans",
        "FOLLOW_USER",
    ),
    kind("UPDATE reports SET user_id = 900", "UPDATE reports SET user_id = {4}", "REPORT_TARGET"),
    kind(
        "UPDATE reports SET target_id = 900 WHERE kind = 0",
        "UPDATE reports SET target_id = 1 WHERE kind = 0",
        "REPORT_TARGET",
    ),
    kind("UPDATE pictures SET owner_id = 900", "UPDATE pictures SET owner_id = {1}", "PICTURE"),
    kind("UPDATE pictures SET bytes = 99", "UPDATE pictures SET bytes = 100", "PICTURE"),
    kind(
        "UPDATE picture_contents SET picture_id = 900",
        "UPDATE picture_contents SET picture_id = 1",
        "PICTURE",
    ),
    kind(
        "UPDATE users SET id = 900 WHERE id = {0}",
        "UPDATE users SET id = {0} WHERE id = 900",
        "AUDIT_USER",
    ),
    kind(
        "UPDATE users SET id = 900 WHERE id = {1}",
        "UPDATE users SET id = {1} WHERE id = 900",
        "SIGN_IN_USER",
    ),
    kind(
        "UPDATE audit_head SET number = number + 1",
        "UPDATE audit_head SET number = number - 1",
        "AUDIT_CHAIN",
    ),
];

/// Tampering possible on a single engine, or with different SQL per engine.
pub const OF_EACH: &[(Sql<'static>, Sql<'static>, &str)] = &[
    (
        Sql {
            sqlite: "UPDATE orders SET slot = id WHERE user_id = {1}",
            mysql: &["UPDATE orders SET of_sale = 0 WHERE user_id = {1}"],
        },
        Sql {
            sqlite: "UPDATE orders SET slot = 0 WHERE user_id = {1}",
            mysql: &["UPDATE orders SET of_sale = 1 WHERE user_id = {1}"],
        },
        "ORDER_SLOT",
    ),
    (
        Sql {
            sqlite: "INSERT INTO payments (id, order_id, amount, state, started_ms, updated_ms, needs_look)
                SELECT 900, id, 4750, 1, 0, 0, 0 FROM orders WHERE user_id = {1}",
            mysql: &["INSERT INTO payments (id, order_id, amount, state, started_ms, updated_ms, needs_look)
                SELECT 900, id, 4750, 1, 0, 0, 0 FROM orders WHERE user_id = {1}"],
        },
        Sql {
            sqlite: "DELETE FROM payments WHERE id = 900;
                UPDATE sqlite_sequence SET seq = (SELECT MAX(id) FROM payments) WHERE name = 'payments'",
            mysql: &["DELETE FROM payments WHERE id = 900"],
        },
        "PAYMENT_ON_UNPAID",
    ),
    (
        Sql {
            sqlite: "INSERT INTO payments (id, order_id, amount, state, started_ms, updated_ms, needs_look)
                SELECT 900, id, 4750, 1, 0, 0, 1 FROM orders WHERE user_id = {5}",
            mysql: &["INSERT INTO payments (id, order_id, amount, state, started_ms, updated_ms, needs_look)
                SELECT 900, id, 4750, 1, 0, 0, 1 FROM orders WHERE user_id = {5}"],
        },
        Sql {
            sqlite: "DELETE FROM payments WHERE id = 900;
                UPDATE sqlite_sequence SET seq = (SELECT MAX(id) FROM payments) WHERE name = 'payments'",
            mysql: &["DELETE FROM payments WHERE id = 900"],
        },
        "PAYMENT_ON_CANCELLED",
    ),
    (
        // A running embedded mall holds the counter in memory, and overwrites the row.
        Sql {
            sqlite: "UPDATE orders SET id = id + 4800000 WHERE user_id = {1}",
            mysql: &["UPDATE sequences SET reserved = 0 WHERE name = 'hidden order'"],
        },
        Sql {
            sqlite: "UPDATE orders SET id = id - 4800000 WHERE user_id = {1}",
            mysql: &["UPDATE sequences SET reserved = 4096 WHERE name = 'hidden order'"],
        },
        "ORDER_NUMBERS",
    ),
    (
        // Another secret makes other counts of the ids.
        Sql {
            sqlite: "UPDATE meta SET value = 'x' || value WHERE name = 'setting.order id secret'",
            mysql: &["UPDATE settings SET value = CONCAT('x', value) WHERE name = 'order id secret'"],
        },
        Sql {
            sqlite: "UPDATE meta SET value = SUBSTR(value, 2) WHERE name = 'setting.order id secret'",
            mysql: &["UPDATE settings SET value = SUBSTR(value, 2) WHERE name = 'order id secret'"],
        },
        "ORDER_NUMBERS",
    ),
    (
        Sql {
            sqlite: "DROP INDEX payments_open;
                INSERT INTO payments (id, order_id, amount, state, started_ms, updated_ms, needs_look)
                SELECT 900, id, 4750, 1, 0, paid_ms, 0 FROM orders WHERE user_id = {2}",
            mysql: &[
                "ALTER TABLE payments DROP KEY payments_by_order",
                "INSERT INTO payments (id, order_id, amount, state, started_ms, updated_ms, needs_look)
                SELECT 900, id, 4750, 1, 0, paid_ms, 0 FROM orders WHERE user_id = {2}",
            ],
        },
        Sql {
            sqlite: "DELETE FROM payments WHERE id = 900;
                UPDATE sqlite_sequence SET seq = (SELECT MAX(id) FROM payments) WHERE name = 'payments'",
            mysql: &["DELETE FROM payments WHERE id = 900"],
        },
        "PAYMENT_TWICE",
    ),
    (
        Sql {
            sqlite: "DROP TRIGGER audit_is_not_changed; UPDATE audit SET detail = detail || ' '",
            mysql: &["DROP TRIGGER audit_is_not_changed", "UPDATE audit SET detail = CONCAT(detail, ' ')"],
        },
        Sql {
            sqlite: "UPDATE audit SET detail = rtrim(detail)",
            mysql: &["UPDATE audit SET detail = RTRIM(detail)"],
        },
        "AUDIT_CHAIN",
    ),
];

/// SQLite only: the other engine has no equivalent, or leaves gaps in normal operation.
pub const OF_SQLITE: &[Kind] = &[
    kind(
        "CREATE TABLE kept AS SELECT * FROM payments WHERE id = 2; DELETE FROM payments WHERE id = 2",
        "INSERT INTO payments SELECT * FROM kept; DROP TABLE kept",
        "ROWS_GONE",
    ),
    kind(
        "CREATE TABLE kept AS SELECT * FROM vouchers WHERE id = 2; DELETE FROM vouchers WHERE id = 2",
        "INSERT INTO vouchers SELECT * FROM kept; DROP TABLE kept",
        "ROWS_GONE",
    ),
    kind("UPDATE sign_blocks SET made_up = X'80'", "UPDATE sign_blocks SET made_up = X''", "SIGN_IN_USER"),
    kind(
        "UPDATE sign_blocks SET signed = CAST(signed || X'FF' AS BLOB)",
        "UPDATE sign_blocks SET signed = substr(signed, 1, length(signed) - 1)",
        "SIGN_IN_USER",
    ),
];
