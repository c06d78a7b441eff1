INSERT IGNORE INTO event_ends (id, head, pruned) VALUES (1, 0, 0);
