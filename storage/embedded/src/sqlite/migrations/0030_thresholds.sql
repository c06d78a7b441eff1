-- The thresholds of a sale as JSON, read as a whole; NULL without any.
ALTER TABLE sales ADD COLUMN thresholds TEXT;
