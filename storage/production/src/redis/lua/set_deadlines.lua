-- Sets or moves deadlines.
-- KEYS: 1 deadlines
-- ARGV: for each order: deadline in ms, order
for i = 1, #ARGV, 2 do redis.call('ZADD', KEYS[1], ARGV[i], ARGV[i + 1]) end
return 1
