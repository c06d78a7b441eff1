-- What users had before the ledger. IGNORE: a repeat after a start that was cut off finds the lines.
INSERT IGNORE INTO credit_lines (user_id, number, kind, reference, amount, sum_after, at_ms)
SELECT user_id, 1, 0, 0, credits, credits, updated_ms FROM user_info WHERE credits > 0;
