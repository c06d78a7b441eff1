-- Units of a sale that a user may hold, and the most that were ever allowed: as many slots have its users.
ALTER TABLE sales ADD COLUMN per_user INTEGER NOT NULL DEFAULT 1;
ALTER TABLE sales ADD COLUMN slots INTEGER NOT NULL DEFAULT 1;
