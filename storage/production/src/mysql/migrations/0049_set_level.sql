-- Set by an operator, in place of the imported level.
ALTER TABLE user_info ADD COLUMN set_level TINYINT UNSIGNED;
