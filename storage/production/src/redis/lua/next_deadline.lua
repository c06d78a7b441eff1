-- Returns the earliest deadline, or nothing.
-- KEYS: after those of known_server.lua: 3 deadlines
return redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]
