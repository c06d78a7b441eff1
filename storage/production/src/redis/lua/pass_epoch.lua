-- Returns the partition's epoch of passes. Begins an epoch if there is none: after the loss of the server's
-- data, spent passes are forgotten.
-- KEYS: 1 the partition's epoch of passes
-- ARGV: 1 a number drawn at random, for a new epoch
local epoch = redis.call('GET', KEYS[1])
if epoch then return epoch end
redis.call('SET', KEYS[1], ARGV[1])
return ARGV[1]
