-- The second lock: whoever means to change the log has to break it first.
CREATE TRIGGER audit_head_stays BEFORE DELETE ON audit_head FOR EACH ROW
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the audit log only grows';
