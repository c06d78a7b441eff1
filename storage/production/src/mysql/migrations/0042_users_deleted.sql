-- An account that is deleted keeps its row: orders, notes and credits stay under its id.
ALTER TABLE users ADD COLUMN deleted_ms BIGINT, ADD KEY users_deleted (deleted_ms);
