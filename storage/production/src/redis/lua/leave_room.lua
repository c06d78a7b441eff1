-- Takes a user out of a waiting room.
-- KEYS: 1 room, 2 users who wait by rank, 3 earlier users
-- ARGV: 1 user
local left = redis.call('PTTL', KEYS[1])
if left <= 0 then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[3], ARGV[1], 'left')
redis.call('PEXPIRE', KEYS[3], left)
return 1
