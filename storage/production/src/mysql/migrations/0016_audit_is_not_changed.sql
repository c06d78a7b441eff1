-- The second lock: whoever means to change the log has to break it first.
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit FOR EACH ROW
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the audit log only grows';
