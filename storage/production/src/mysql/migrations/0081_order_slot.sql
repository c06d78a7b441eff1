-- Which of its user's slots an order of a sale fills while it is live, from 1 on.
ALTER TABLE orders ADD COLUMN slot TINYINT UNSIGNED NOT NULL DEFAULT 1;
