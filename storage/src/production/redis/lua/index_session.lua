-- Notes a token among a user's, for at least as long as the session may live.
-- KEYS: 1 the user's tokens, by when they were noted
-- ARGV: 1 token, 2 now in ms, 3 how long Redis keeps it, in ms
redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return redis.call('ZCARD', KEYS[1])
