-- How much of a partition's log is not settled, and when the oldest of it was claimed.
-- KEYS: 1 log
-- Answers {how many, the oldest one's instant or nothing}.
local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
if not oldest then return {0, false} end
return {redis.call('XLEN', KEYS[1]), oldest[2][8]}
