-- Stores a cache entry, unless the entry was invalidated since the lease was granted.
-- KEYS: 1 entry
-- ARGV: 1 number of invalidations in the lease, 2 bytes, 3 expiry in ms, 4 how long Redis keeps the entry, in
-- ms
-- Returns 1 if the entry was stored.
if (redis.call('HGET', KEYS[1], 'forgotten') or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'bytes', ARGV[2], 'expires', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
