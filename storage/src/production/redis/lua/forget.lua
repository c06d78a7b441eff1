-- Forgets an entry of the cache, and tells every instance. That it was forgotten is known for longer than anybody may take
-- from looking to keeping.
-- KEYS: 1 entry
-- ARGV: 1 ms to know it, 2 the channel, 3 what to say there
-- Answers how often it was forgotten, as far as is known.
redis.call('HDEL', KEYS[1], 'bytes', 'expires')
local forgotten = redis.call('HINCRBY', KEYS[1], 'forgotten', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PUBLISH', ARGV[2], ARGV[3])
return forgotten
