//! Tampering with cash sessions, their entries and Z reports. The database's own guards fall first.

use mallbox::mall::base::By;
use mallbox::mall::operator::CashAdmin;
use mallbox::mall::operator::cash::{CashMove, DrawerCount};
use mallbox_storage::CashSessionId;
use mallbox_test_servers::Sql;

use super::World;

/// Changes rows of a table that only grows, and changes them back.
macro_rules! guarded {
    ($trigger:literal, $spoil:literal, $undo:literal, $code:literal) => {
        (
            Sql {
                sqlite: concat!("DROP TRIGGER IF EXISTS ", $trigger, "; ", $spoil),
                mysql: &[concat!("DROP TRIGGER IF EXISTS ", $trigger), $spoil],
            },
            Sql { sqlite: $undo, mysql: &[$undo] },
            $code,
        )
    };
}

/// Change, reversal, and the code that names the change.
pub const OF_EACH: &[(Sql<'_>, Sql<'_>, &str)] = &[
    guarded!(
        "cash_entries_are_not_changed",
        "UPDATE cash_entries SET amount = amount + 1 WHERE session_id = 1 AND number = 1",
        "UPDATE cash_entries SET amount = amount - 1 WHERE session_id = 1 AND number = 1",
        "CASH_SESSION"
    ),
    guarded!(
        "cash_entries_are_not_changed",
        "UPDATE cash_entries SET reason = 'milk' WHERE session_id = 1 AND number = 1",
        "UPDATE cash_entries SET reason = 'change' WHERE session_id = 1 AND number = 1",
        "CASH_REPORT"
    ),
    // Of the session that is open.
    guarded!(
        "cash_entries_are_not_changed",
        "UPDATE cash_entries SET user_id = user_id + 1 WHERE session_id = 2",
        "UPDATE cash_entries SET user_id = user_id - 1 WHERE session_id = 2",
        "CASH_REPORT"
    ),
    guarded!(
        "cash_entries_are_not_changed",
        "UPDATE cash_entries SET reason = '' WHERE session_id = 2",
        "UPDATE cash_entries SET reason = 'change' WHERE session_id = 2",
        "CASH_ENTRY"
    ),
    guarded!(
        "cash_entries_are_not_changed",
        "UPDATE cash_entries SET kind = 1 WHERE session_id = 2",
        "UPDATE cash_entries SET kind = 3 WHERE session_id = 2",
        "CASH_ENTRY"
    ),
    guarded!(
        "cash_entries_are_not_changed",
        "UPDATE cash_entries SET session_id = 9 WHERE session_id = 2",
        "UPDATE cash_entries SET session_id = 2 WHERE session_id = 9",
        "CASH_ENTRY"
    ),
    guarded!(
        "cash_entries_are_not_changed",
        "UPDATE cash_entries SET number = 5 WHERE session_id = 2",
        "UPDATE cash_entries SET number = 1 WHERE session_id = 2",
        "CASH_SESSION"
    ),
    guarded!(
        "cash_reports_are_not_changed",
        "UPDATE cash_reports SET body = REPLACE(body, '\"counted\":', '\"counted\":1')",
        "UPDATE cash_reports SET body = REPLACE(body, '\"counted\":1', '\"counted\":')",
        "CASH_REPORT"
    ),
    guarded!(
        "cash_reports_are_not_changed",
        "UPDATE cash_reports SET session_id = 7",
        "UPDATE cash_reports SET session_id = 1",
        "CASH_SESSION"
    ),
    (
        Sql {
            sqlite: "DROP TRIGGER cash_reports_are_not_removed; CREATE TABLE kept AS SELECT * FROM cash_reports; \
                     DELETE FROM cash_reports",
            mysql: &[
                "DROP TRIGGER IF EXISTS cash_reports_are_not_removed",
                "CREATE TABLE kept AS SELECT * FROM cash_reports",
                "DELETE FROM cash_reports",
            ],
        },
        Sql {
            sqlite: "INSERT INTO cash_reports SELECT * FROM kept; DROP TABLE kept",
            mysql: &["INSERT INTO cash_reports SELECT * FROM kept", "DROP TABLE kept"],
        },
        "CASH_REPORT",
    ),
    guarded!(
        "no_trigger",
        "UPDATE cash_sessions SET paid_in = paid_in + 1 WHERE id = 2",
        "UPDATE cash_sessions SET paid_in = paid_in - 1 WHERE id = 2",
        "CASH_SESSION"
    ),
    // The opening of the session that is open.
    guarded!(
        "no_trigger",
        "UPDATE cash_sessions SET float_cents = float_cents + 1 WHERE id = 2",
        "UPDATE cash_sessions SET float_cents = float_cents - 1 WHERE id = 2",
        "CASH_REPORT"
    ),
    guarded!(
        "no_trigger",
        "UPDATE cash_sessions SET opened_by = opened_by + 1 WHERE id = 2",
        "UPDATE cash_sessions SET opened_by = opened_by - 1 WHERE id = 2",
        "CASH_REPORT"
    ),
    guarded!(
        "no_trigger",
        "UPDATE cash_sessions SET opened_ms = opened_ms + 1 WHERE id = 2",
        "UPDATE cash_sessions SET opened_ms = opened_ms - 1 WHERE id = 2",
        "CASH_REPORT"
    ),
    guarded!(
        "no_trigger",
        "UPDATE cash_sessions SET open_till = NULL WHERE id = 2",
        "UPDATE cash_sessions SET open_till = till WHERE id = 2",
        "CASH_SESSION"
    ),
    guarded!(
        "no_trigger",
        "UPDATE cash_sessions SET open_till = till WHERE id = 1",
        "UPDATE cash_sessions SET open_till = NULL WHERE id = 1",
        "CASH_SESSION"
    ),
];

/// Closes a session with an entry, and opens a second one with an entry at another till.
pub async fn sessions(w: &World, by: By) {
    let cash = CashAdmin::new(w.context.clone(), w.audit.clone());
    let cash_move =
        || CashMove { is_in: true, amount: 300, reason: "change".to_owned(), request: "a".to_owned() };
    for (till, id) in [("1", 1), ("2", 2)] {
        let session = cash.open(by, Some(till), 500).await.unwrap().session.id;
        assert_eq!(session, CashSessionId::new(id));
        cash.pay_in_or_out(by, session, cash_move()).await.unwrap();
    }
    let count = DrawerCount { counted: 790, expected: 800, request: "b".to_owned() };
    cash.close(by, CashSessionId::new(1), count).await.unwrap();
}
