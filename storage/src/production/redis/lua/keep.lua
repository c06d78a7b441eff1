-- Keeps an entry of the cache, unless its key was forgotten since its reader looked.
-- KEYS: 1 entry
-- ARGV: 1 how often it was forgotten then, 2 bytes, 3 when it expires, 4 ms until Redis drops it
-- Answers 1 if it is kept.
if (redis.call('HGET', KEYS[1], 'forgotten') or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'bytes', ARGV[2], 'expires', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
