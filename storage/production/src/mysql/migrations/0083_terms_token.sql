-- Greatest fencing token under which an operator changed the terms of the sale, 0 for none.
ALTER TABLE sales ADD COLUMN terms_token BIGINT UNSIGNED NOT NULL DEFAULT 0;
