-- Invalidates a cache entry, and notifies every instance. The count of invalidations outlives every cache
-- lease.
-- KEYS: 1 entry
-- ARGV: 1 how long to keep the count, in ms, 2 channel, 3 message
-- Returns the number of invalidations, as far as known.
redis.call('HDEL', KEYS[1], 'bytes', 'expires')
local forgotten = redis.call('HINCRBY', KEYS[1], 'forgotten', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PUBLISH', ARGV[2], ARGV[3])
return forgotten
