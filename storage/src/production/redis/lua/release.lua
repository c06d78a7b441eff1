-- Gives a unit back, if it is held by this order.
-- KEYS: 1 sale, 2 buyers, 3 further units by user, 4 who loads it, 5 to 7 what was loaded so far: buyers, further units,
-- released orders
-- ARGV: 1 user, 2 order
-- Answers 1 if a unit came back.
local user, order = ARGV[1], ARGV[2]
local function forget(buyers, further)
    if redis.call('HGET', buyers, user) ~= order then return redis.call('ZREM', further, user .. ':' .. order) end
    -- The user may have bought twice, and then stands there by the next of these.
    local others = redis.call('ZRANGEBYLEX', further, '[' .. user .. ':', '(' .. user .. ';', 'LIMIT', 0, 1)
    if others[1] then
        redis.call('ZREM', further, others[1])
        redis.call('HSET', buyers, user, string.match(others[1], ':(.*)$'))
    else
        redis.call('HDEL', buyers, user)
    end
    return 1
end
if redis.call('EXISTS', KEYS[1]) == 1 then
    local back = forget(KEYS[2], KEYS[3])
    if back == 1 then redis.call('HINCRBY', KEYS[1], 'taken', -1) end
    return back
end
-- Whoever loads the sale may have read the order while it was live, or have that still before it.
if redis.call('EXISTS', KEYS[4]) == 1 then
    forget(KEYS[5], KEYS[6])
    redis.call('SADD', KEYS[7], order)
    -- Should the loader die.
    redis.call('PEXPIRE', KEYS[7], 100000)
end
return 0
