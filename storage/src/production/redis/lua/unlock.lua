-- Leaves a lock by one entry, if it is this owner's; the last one out frees it and says so to those who wait.
-- KEYS: 1 lock
-- ARGV: 1 owner, 2 entry, 3 the channel, 4 what to say there
-- Answers 1 if the owner had entered so.
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
local left = redis.call('HDEL', KEYS[1], 'in:' .. ARGV[2])
-- Owner and token are all that is left.
if left == 1 and redis.call('HLEN', KEYS[1]) == 2 then
    redis.call('UNLINK', KEYS[1])
    redis.call('PUBLISH', ARGV[3], ARGV[4])
end
return left
