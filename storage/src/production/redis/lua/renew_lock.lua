-- Makes a lease last at least so long from now, if it still is this owner's.
-- KEYS: 1 lock
-- ARGV: 1 owner, 2 lease in ms
-- Answers 1 if it is.
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
