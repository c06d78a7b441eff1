-- Gives a unit back, if it is held by this order.
-- KEYS: 1 sale, 2 buyers, 3 further units, 4 who loads it, 5 to 7 what was loaded so far: buyers, further units, released
-- orders
-- ARGV: 1 user, 2 order
-- Answers 1 if a unit came back.
local function forget(buyers, further)
    if redis.call('HGET', buyers, ARGV[1]) == ARGV[2] then return redis.call('HDEL', buyers, ARGV[1]) end
    return redis.call('SREM', further, ARGV[2])
end
if redis.call('EXISTS', KEYS[1]) == 1 then
    local back = forget(KEYS[2], KEYS[3])
    if back == 1 then redis.call('HINCRBY', KEYS[1], 'taken', -1) end
    return back
end
-- Whoever loads the sale may have read the order while it was live, or have that still before it.
if redis.call('EXISTS', KEYS[4]) == 1 then
    forget(KEYS[5], KEYS[6])
    redis.call('SADD', KEYS[7], ARGV[2])
    -- Should the loader die.
    redis.call('PEXPIRE', KEYS[7], 100000)
end
return 0
