-- Returns due orders, and moves each deadline to the end of the lease.
-- KEYS: 1 deadlines
-- ARGV: 1 now in ms, 2 maximum number of orders, 3 end of the lease in ms
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, order in ipairs(due) do redis.call('ZADD', KEYS[1], ARGV[3], order) end
return due
