-- Claims per second of a sale that an instance of the mall passes on; NULL without a limit.
ALTER TABLE sales ADD COLUMN claims_per_second INTEGER;
