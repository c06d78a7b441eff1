-- Returns the pending claim of an order, or nothing.
-- KEYS: 1 pending claims by order
-- ARGV: 1 order
return redis.call('HGET', KEYS[1], ARGV[1])
