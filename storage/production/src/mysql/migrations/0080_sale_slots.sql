-- The most units per user that were ever allowed. A user has as many slots for live orders.
ALTER TABLE sales ADD COLUMN slots TINYINT UNSIGNED NOT NULL DEFAULT 1;
