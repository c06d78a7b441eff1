-- The second lock: a change requires dropping the trigger first.
CREATE TRIGGER cash_reports_are_not_removed BEFORE DELETE ON cash_reports FOR EACH ROW
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'Z reports stay';
