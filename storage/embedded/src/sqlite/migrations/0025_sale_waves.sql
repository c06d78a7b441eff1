-- Timetables of sales: units that enter a sale at scheduled instants.

CREATE TABLE sale_waves (
    voucher_id  INTEGER NOT NULL,
    -- Ascending in time within a sale.
    number      INTEGER NOT NULL,
    at_ms       INTEGER NOT NULL,
    units       INTEGER NOT NULL CHECK (units > 0),
    -- NULL for a wave to come.
    released_ms INTEGER,
    PRIMARY KEY (voucher_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX sale_waves_to_come ON sale_waves (at_ms, voucher_id) WHERE released_ms IS NULL;
