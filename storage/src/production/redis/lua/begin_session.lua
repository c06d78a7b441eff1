-- Begins a session in place of whatever the token was before.
-- KEYS: 1 session
-- ARGV: 1 user, 2 when it expires, 3 its TTL, 4 how long Redis keeps it, all in ms
redis.call('HSET', KEYS[1], 'user', ARGV[1], 'expires', ARGV[2], 'ttl', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
