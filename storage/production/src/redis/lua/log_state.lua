-- Reads the backlog of a partition's log.
-- KEYS: 1 log
-- Returns {number of unsettled claims, time of the oldest claim or nothing}.
local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
if not oldest then return {0, false} end
return {redis.call('XLEN', KEYS[1]), oldest[2][8]}
