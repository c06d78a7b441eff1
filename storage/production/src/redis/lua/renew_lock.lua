-- Renews a lock's lease to at least the given time from now, if this owner still holds the lock.
-- KEYS: 1 lock
-- ARGV: 1 owner, 2 lease in ms
-- Returns 1 if the owner holds the lock.
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
