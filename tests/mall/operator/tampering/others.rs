//! Tampering with payments, dead letters, users and their writings, and tampering possible on a single
//! engine.

use mallbox_test_servers::Sql;

use super::{Kind, kind};

/// A [`Kind`] that adds an entry to a waiting list.
macro_rules! waiting {
    ($values:literal, $code:literal) => {
        kind(
            concat!(
                "INSERT INTO waiting_entries (voucher_id, user_id, state, joined_ms, changed_ms, order_id) VALUES (",
                $values,
                ")"
            ),
            "DELETE FROM waiting_entries",
            $code,
        )
    };
}

/// Kinds of tampering. A row is deleted by changing its key to an unused value to keep the change
/// reversible.
pub const KINDS: &[Kind] = &[
    // Payments.
    update!("payments", "id = 1", "order_id = order_id + 7", "order_id = order_id - 7", "PAYMENT_ORDER"),
    update!("payments", "id = 1", "order_id = order_id + 7", "order_id = order_id - 7", "PAYMENT_MISSING"),
    update!("payments", "id = 1", "gateway = 1", "gateway = 2", "PAYMENT_GATEWAY"),
    update!("payments", "id = 1", "gateway = 9", "gateway = 2", "PAYMENT_GATEWAY"),
    update!("payments", "id = 1", "amount = amount - 1", "amount = amount + 1", "PAYMENT_AMOUNT"),
    update!("payments", "id = 1", "state = 0", "state = 1", "PAYMENT_MISSING"),
    update!("payments", "id = 1", "state = 0", "state = 1", "PAYMENT_UNWATCHED"),
    update!("payments", "id = 1", "state = 2", "state = 1", "PAYMENT_MISSING"),
    update!("payments", "id = 1", "state = 3", "state = 1", "PAYMENT_MISSING"),
    update!("payments", "id = 1", "state = 8", "state = 1", "PAYMENT_STATE"),
    update!(
        "payments",
        "id = 1",
        "updated_ms = 9",
        "updated_ms = (SELECT paid_ms FROM orders WHERE user_id = {2})",
        "PAYMENT_INSTANT"
    ),
    kind(
        "UPDATE payments SET state = 1 WHERE state = 2",
        "UPDATE payments SET state = 2 WHERE order_id = (SELECT id FROM orders WHERE user_id = {6})",
        "PAYMENT_ON_REFUNDED",
    ),
    update!("payments", "id = 1", "needs_look = 1", "needs_look = 0", "PAYMENT_UNWATCHED"),
    // Dead letters, purchases, units being returned, sequences.
    update!("dead_letters", "user_id = 900", "user_id = {8}", "LETTER_USER"),
    update!("dead_letters", "voucher_id = 900", "voucher_id = {sale}", "LETTER_SALE"),
    update!("dead_letters", "holds_unit = 0", "holds_unit = 1", "SALE_STOCK"),
    update!("dead_letters", "state = 7", "state = 0", "LETTER_STATE"),
    update!("dead_letters", "state = 1", "state = 0", "LETTER_ORDER"),
    update!("dead_letters", "state = 2", "state = 0", "LETTER_UNIT"),
    update!("dead_letters", "closed_ms = 5", "closed_ms = NULL", "LETTER_INSTANTS"),
    update!("dead_letters", "reason = 'OVERSOLD'", "reason = 'REFUSED'", "LETTER_UNIT"),
    update!("dead_letters", "reason = 'BECAUSE'", "reason = 'REFUSED'", "LETTER_STATE"),
    kind(
        "UPDATE orders SET user_id = {11} WHERE user_id = {10}",
        "UPDATE orders SET user_id = {10} WHERE user_id = {11}",
        "PURCHASE_ORDER",
    ),
    update!(
        "purchases",
        "order_id = 5",
        "order_id = (SELECT id FROM orders WHERE user_id = {10})",
        "PURCHASE_ORDER"
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
    // Waiting lists: a user or sale that does not exist, a state, an order, and claims beside waiting users.
    waiting!("{sale}, 900, 3, 5, 5, NULL", "WAITING_ENTRY"),
    waiting!("900, {1}, 3, 5, 5, NULL", "WAITING_ENTRY"),
    waiting!("{sale}, {1}, 9, 5, 5, NULL", "WAITING_ENTRY"),
    waiting!("{sale}, {1}, 2, 5, 5, NULL", "WAITING_ENTRY"),
    waiting!("{sale}, {1}, 2, 5, 5, 5", "WAITING_ENTRY"),
    waiting!("{sale}, {1}, 0, 5, 5, NULL", "SALE_WAITING"),
    // Users and their writings.
    update!("users", "id = {12}", "role = 7", "role = 0", "USER_RIGHTS"),
    update!("users", "id = {12}", "block_reason = 'x'", "block_reason = NULL", "USER_RIGHTS"),
    update!("users", "id = {12}", "deleted_ms = 5", "deleted_ms = NULL", "DELETED_USER"),
    kind(
        "UPDATE user_info SET user_id = 900 WHERE user_id = {1}",
        "UPDATE user_info SET user_id = {1} WHERE user_id = 900",
        "CARD_USER",
    ),
    // Credits: user 2 has paid, user 6 was refunded.
    kind(
        "UPDATE user_info SET user_id = 900 WHERE user_id = {1}",
        "UPDATE user_info SET user_id = {1} WHERE user_id = 900",
        "CREDIT_USER",
    ),
    update!("user_info", "user_id = {2}", "credits = credits + 1", "credits = credits - 1", "CREDIT_SUM"),
    update!("credit_lines", "user_id = {2}", "amount = amount + 1", "amount = amount - 1", "CREDIT_SUM"),
    update!(
        "credit_lines",
        "user_id = {2}",
        "sum_after = sum_after + 1",
        "sum_after = sum_after - 1",
        "CREDIT_LINE"
    ),
    update!("credit_lines", "user_id = {2}", "number = 2", "number = 1", "CREDIT_LINE"),
    update!("credit_lines", "user_id = {2}", "kind = 9", "kind = 2", "CREDIT_LINE"),
    update!(
        "credit_lines",
        "user_id = {2}",
        "reference = 5",
        "reference = (SELECT id FROM orders WHERE user_id = {2})",
        "CREDIT_ORDER"
    ),
    kind(
        "UPDATE credit_lines SET user_id = 900 WHERE user_id = {6} AND kind = 3",
        "UPDATE credit_lines SET user_id = {6} WHERE user_id = 900",
        "CREDIT_ORDER",
    ),
    kind(
        "UPDATE credit_lines SET user_id = 900 WHERE user_id = {6} AND kind = 2",
        "UPDATE credit_lines SET user_id = {6} WHERE user_id = 900",
        "CREDIT_ORDER",
    ),
    // The review of user 1 has the vote of user 3, and the vote of user 2 taken back.
    update!("reviews", "user_id = 900", "user_id = {1}", "REVIEW"),
    update!("reviews", "half_stars = 11", "half_stars = 8", "REVIEW"),
    update!("reviews", "is_folded = 1", "is_folded = 0", "SHOP_REVIEWS"),
    update!("reviews", "origin = 0", "origin = 2", "REVIEW"),
    kind(
        "UPDATE reviews SET origin = 0, order_id = 5",
        "UPDATE reviews SET origin = 2, order_id = NULL",
        "REVIEW_ORDER",
    ),
    update!("review_pictures", "review_id = 900", "review_id = 1", "REVIEW_PICTURE"),
    update!("reviews", "half_stars = 9", "half_stars = 8", "SHOP_REVIEWS"),
    update!("shops", "id = 1", "review_count = 2", "review_count = 1", "SHOP_REVIEWS"),
    update!("shops", "id = 1", "score = 41", "score = 40", "SHOP_SCORE"),
    update!("shops", "id = 1", "score = 39", "score = 40", "SHOP_SCORE"),
    update!("shops", "id = 1", "comments = comments + 1", "comments = comments - 1", "SHOP_SCORE"),
    update!("vote_lines", "number = 2", "sum_after = 3", "sum_after = 2", "VOTE_LINE"),
    update!("vote_lines", "number = 1", "cause = 7", "cause = 1", "VOTE_LINE"),
    update!("vote_lines", "number = 2", "user_id = {2}", "user_id = {3}", "VOTE_TWICE"),
    update!("reviews", "votes = 5", "votes = 1", "VOTE_SUM"),
    update!("reviews", "vote_lines = 2", "vote_lines = 3", "VOTE_SUM"),
    update!("reviews", "closed_line = 2", "closed_line = 0", "VOTE_SUM"),
    update!("vote_marks", "user_id = {2}", "user_id = {3}", "VOTE_MARK"),
    update!("retry_kinds", "open_tasks = 5", "open_tasks = 2", "RETRY_TOTALS"),
    update!("retry_kinds", "open_bytes = 5", "open_bytes = 2", "RETRY_TOTALS"),
    update!("retry_kinds", "failed_tasks = 0", "failed_tasks = 1", "RETRY_TOTALS"),
    update!("retry_tasks", "task_key = 'b'", "ready_ms = NULL", "ready_ms = due_ms", "RETRY_TASK"),
    update!("retry_tasks", "task_key = 'c'", "ready_ms = due_ms", "ready_ms = NULL", "RETRY_TASK"),
    update!("retry_tasks", "task_key = 'a'", "ready_ms = due_ms", "ready_ms = NULL", "RETRY_TASK"),
    update!("retry_tasks", "task_key = 'a'", "kind = 'gone'", "kind = 'test'", "RETRY_TASK"),
    update!("notes", "user_id = 900", "user_id = {1}", "NOTE_USER"),
    update!("notes", "status = 8", "status = 1", "NOTE_STATUS"),
    update!("notes", "comments = 5", "comments = 2", "NOTE_COMMENTS"),
    update!("notes", "likes = 5", "likes = 1", "LIKES"),
    update!("notes", "id = 900", "id = 1", "COMMENT_NOTE"),
    kind(
        "INSERT INTO note_pictures (name, note_id) VALUES ('/blogs/x.jpg', 900)",
        "DELETE FROM note_pictures",
        "NOTE_PICTURE",
    ),
    update!("note_comments", "id = 1", "status = 2", "status = 1", "NOTE_COMMENTS"),
    update!("note_comments", "user_id = 900", "user_id = {2}", "COMMENT_USER"),
    update!("note_comments", "id = 2", "parent_id = 900", "parent_id = 1", "COMMENT_PARENT"),
    update!("note_comments", "id = 2", "status = 8", "status = 0", "COMMENT_STATUS"),
    update!("note_comments", "id = 1", "likes = 4", "likes = 1", "LIKES"),
    update!("likes", "user_id = 900", "user_id = {3}", "LIKE_TARGET"),
    update!("likes", "kind = 1", "target_id = 900", "target_id = 1", "LIKE_TARGET"),
    update!("follows", "followee_id = 900", "followee_id = {2}", "FOLLOW_USER"),
    kind(
        "INSERT INTO authors_with_many_fans (user_id) VALUES (900)",
        "DELETE FROM authors_with_many_fans",
        "FOLLOW_USER",
    ),
    update!("reports", "user_id = 900", "user_id = {4}", "REPORT_TARGET"),
    update!("reports", "kind = 0", "target_id = 900", "target_id = 1", "REPORT_TARGET"),
    update!("pictures", "owner_id = 900", "owner_id = {1}", "PICTURE"),
    update!("pictures", "bytes = 99", "bytes = 100", "PICTURE"),
    update!("picture_contents", "picture_id = 900", "picture_id = 1", "PICTURE"),
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
    update!("audit_head", "number = number + 1", "number = number - 1", "AUDIT_CHAIN"),
];

/// Inserts payment 900, of the order of a user.
macro_rules! insert_payment {
    ($updated_ms:literal, $needs_look:literal, $user:literal) => {
        concat!(
            "INSERT INTO payments (id, order_id, amount, state, started_ms, updated_ms, needs_look)
                SELECT 900, id, 4750, 1, 0, ",
            $updated_ms,
            ", ",
            $needs_look,
            " FROM orders WHERE user_id = ",
            $user
        )
    };
}

/// Deletes payment 900.
const DELETE_PAYMENT: Sql<'static> = Sql {
    sqlite: "DELETE FROM payments WHERE id = 900;
        UPDATE sqlite_sequence SET seq = (SELECT MAX(id) FROM payments) WHERE name = 'payments'",
    mysql: &["DELETE FROM payments WHERE id = 900"],
};

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
            sqlite: "UPDATE orders SET slot = -1 WHERE user_id = {1}",
            mysql: &["UPDATE orders SET slot = 2 WHERE user_id = {1}"],
        },
        Sql {
            sqlite: "UPDATE orders SET slot = 0 WHERE user_id = {1}",
            mysql: &["UPDATE orders SET slot = 1 WHERE user_id = {1}"],
        },
        "ORDER_SLOT",
    ),
    (
        Sql { sqlite: insert_payment!("0", "0", "{1}"), mysql: &[insert_payment!("0", "0", "{1}")] },
        DELETE_PAYMENT,
        "PAYMENT_ON_UNPAID",
    ),
    (
        Sql { sqlite: insert_payment!("0", "1", "{5}"), mysql: &[insert_payment!("0", "1", "{5}")] },
        DELETE_PAYMENT,
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
            sqlite: concat!("DROP INDEX payments_open; ", insert_payment!("paid_ms", "0", "{2}")),
            mysql: &[
                "ALTER TABLE payments DROP KEY payments_by_order",
                insert_payment!("paid_ms", "0", "{2}"),
            ],
        },
        DELETE_PAYMENT,
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
    kind(
        "CREATE TABLE kept AS SELECT * FROM order_tail; DELETE FROM order_tail",
        "INSERT INTO order_tail SELECT * FROM kept; DROP TABLE kept",
        "ORDER_LISTED",
    ),
    update!("sign_blocks", "made_up = X'80'", "made_up = X''", "SIGN_IN_USER"),
    update!(
        "sign_blocks",
        "signed = CAST(signed || X'FF' AS BLOB)",
        "signed = substr(signed, 1, length(signed) - 1)",
        "SIGN_IN_USER"
    ),
];
