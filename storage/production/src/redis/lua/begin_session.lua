-- Begins a session, replacing any earlier session of the token.
-- KEYS: 1 session
-- ARGV: 1 user, 2 expiry, 3 TTL, 4 how long Redis keeps the session, 5 now, all times in ms; 6 role,
-- 7 origin, 8 address, 9 browser, 10 begin in ms, 11 '1' with a second factor
-- Returns 1 if there was an earlier session of the token.
local replaces = redis.call('EXISTS', KEYS[1])
redis.call('HSET', KEYS[1], 'user', ARGV[1], 'expires', ARGV[2], 'ttl', ARGV[3], 'created', ARGV[10],
    'seen', ARGV[5], 'role', ARGV[6], 'origin', ARGV[7], 'address', ARGV[8], 'browser', ARGV[9],
    'factor', ARGV[11])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return replaces
