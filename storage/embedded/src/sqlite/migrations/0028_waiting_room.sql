-- The waiting room of a sale as JSON, read as a whole; NULL without one.
ALTER TABLE sales ADD COLUMN room TEXT;
