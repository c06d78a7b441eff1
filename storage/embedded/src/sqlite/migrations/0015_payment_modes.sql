-- How each order is paid for: 0 not at all, 2 with imaginary money, as every order until now.
ALTER TABLE orders ADD COLUMN payment_mode INTEGER NOT NULL DEFAULT 2;
