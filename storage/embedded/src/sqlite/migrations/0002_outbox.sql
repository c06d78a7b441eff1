-- Units that are to be given back to the sales in memory, written by the transaction that closes their order.
CREATE TABLE outbox_releases (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    order_id   INTEGER NOT NULL UNIQUE,
    voucher_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL
) STRICT;
