-- Begins a session in place of whatever the token was before.
-- KEYS: 1 session
-- ARGV: 1 user, 2 when it expires, 3 how long Redis keeps it, both in ms
redis.call('HSET', KEYS[1], 'user', ARGV[1], 'expires', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
