-- Leaves one entry of a lock held by this owner. The last entry frees the lock and notifies waiters.
-- KEYS: 1 lock
-- ARGV: 1 owner, 2 entry, 3 channel, 4 message
-- Returns 1 if the owner held this entry.
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
local left = redis.call('HDEL', KEYS[1], 'in:' .. ARGV[2])
-- Only owner and token are left.
if left == 1 and redis.call('HLEN', KEYS[1]) == 2 then
    redis.call('UNLINK', KEYS[1])
    redis.call('PUBLISH', ARGV[3], ARGV[4])
end
return left
