-- The second lock: a change requires dropping the trigger first.
CREATE TRIGGER cash_entries_are_not_removed BEFORE DELETE ON cash_entries FOR EACH ROW
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'entries of cash sessions stay';
