-- By which the comments of a user are found, to be handed out. InnoDB adds the id.
CREATE INDEX note_comments_by_user ON note_comments (user_id);
