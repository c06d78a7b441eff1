-- Makes later fencing tokens greater than a given token. A held lock keeps its token.
-- KEYS: 1 last fencing token
-- ARGV: 1 token
-- Returns 1.
if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
return 1
