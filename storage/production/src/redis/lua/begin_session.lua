-- Begins a session, replacing any earlier session of the token.
-- KEYS: 1 session
-- ARGV: 1 user, 2 expiry, 3 TTL, 4 how long Redis keeps the session; all in ms
redis.call('HSET', KEYS[1], 'user', ARGV[1], 'expires', ARGV[2], 'ttl', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
