-- Greatest fencing token under which an operator changed the terms of the sale; 0 = none.
ALTER TABLE sales ADD COLUMN terms_token INTEGER NOT NULL DEFAULT 0;
