-- The slot of a live order of a sale, else NULL. The unique key over user, voucher and this column then allows one live
-- order a slot.
ALTER TABLE orders MODIFY COLUMN is_live TINYINT UNSIGNED GENERATED ALWAYS AS
  (CASE WHEN of_sale = 1 AND status NOT IN (4, 6) THEN slot ELSE NULL END) STORED;
