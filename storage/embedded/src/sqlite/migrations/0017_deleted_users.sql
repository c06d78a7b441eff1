-- An account that is deleted keeps its row: orders, notes and credits stay under its id.
ALTER TABLE users ADD COLUMN deleted_ms INTEGER;
CREATE INDEX users_deleted ON users (deleted_ms) WHERE deleted_ms IS NOT NULL;

-- By which the comments and likes of a user are found, to be handed out.
CREATE INDEX note_comments_by_user ON note_comments (user_id, id);
CREATE INDEX likes_by_user         ON likes (user_id, kind, target_id);
