-- Returns the salt of a day: of all offered salts, the first is kept.
-- KEYS: 1 salt
-- ARGV: 1 offered salt, 2 how long Redis keeps the salt, in ms
redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
return redis.call('GET', KEYS[1])
