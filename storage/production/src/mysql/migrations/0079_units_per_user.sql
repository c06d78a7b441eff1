-- Units of a sale that a user may hold.
ALTER TABLE sales ADD COLUMN per_user TINYINT UNSIGNED NOT NULL DEFAULT 1;
