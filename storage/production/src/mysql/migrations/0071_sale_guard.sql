-- The guard of a sale as JSON, read as a whole. NULL without one.
ALTER TABLE sales ADD COLUMN guard TEXT;
