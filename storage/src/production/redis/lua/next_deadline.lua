-- Answers the earliest deadline, or nothing.
-- KEYS: 1 deadlines
return redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
