-- By which the likes of a user are found, to be handed out.
CREATE INDEX likes_by_user ON likes (user_id, kind, target_id);
