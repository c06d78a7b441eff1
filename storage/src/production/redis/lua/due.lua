-- Hands out orders whose deadline has come, and moves it to the end of the lease.
-- KEYS: 1 deadlines
-- ARGV: 1 now, 2 how many at the most, 3 the end of the lease
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, order in ipairs(due) do redis.call('ZADD', KEYS[1], ARGV[3], order) end
return due
