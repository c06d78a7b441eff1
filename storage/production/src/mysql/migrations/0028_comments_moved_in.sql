UPDATE note_comments SET imported = 1 WHERE status < 2;
