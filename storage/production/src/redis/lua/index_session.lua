-- Adds a token to the user's index, which lives at least as long as the session may.
-- KEYS: 1 the user's tokens by time of addition
-- ARGV: 1 token, 2 now in ms, 3 how long Redis keeps the index, in ms
-- Returns the number of tokens in the index.
redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return redis.call('ZCARD', KEYS[1])
