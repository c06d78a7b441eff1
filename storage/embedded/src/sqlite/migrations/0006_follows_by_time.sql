-- Fans and followees are listed by time, a page at a time.

DROP INDEX follows_by_followee;
CREATE INDEX follows_by_followee ON follows (followee_id, created_ms, user_id);
CREATE INDEX follows_by_user ON follows (user_id, created_ms, followee_id);
