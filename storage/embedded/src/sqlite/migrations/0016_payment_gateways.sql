-- The gateway of each payment, numbered like orders.payment_mode: every payment until now went through the sandbox.
ALTER TABLE payments ADD COLUMN gateway INTEGER NOT NULL DEFAULT 2;
