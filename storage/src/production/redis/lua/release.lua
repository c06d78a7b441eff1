-- Gives a unit back, if it is held by this order. If another order of the user's has none here (Redis forgot it, and sold
-- the user this one as well), the unit is that one's from now on.
-- KEYS: 1 sale, 2 buyers, 3 further units by user, 4 who loads it, 5 to 7 what was loaded so far: buyers, further units,
-- released orders
-- ARGV: 1 user, 2 order; then the user's orders that the record knows to hold a unit
-- Answers a word, or the order that has the unit now.
local user, order = ARGV[1], ARGV[2]
local function holds(id)
    return redis.call('HGET', KEYS[2], user) == id or redis.call('ZSCORE', KEYS[3], user .. ':' .. id)
end
local function without_a_unit()
    for i = 3, #ARGV do
        if not holds(ARGV[i]) then return ARGV[i] end
    end
end
local function pass_on(heir)
    if redis.call('HGET', KEYS[2], user) == order then
        redis.call('HSET', KEYS[2], user, heir)
    else
        redis.call('ZREM', KEYS[3], user .. ':' .. order)
        redis.call('ZADD', KEYS[3], 0, user .. ':' .. heir)
    end
    return heir
end
local function forget(buyers, further)
    if redis.call('HGET', buyers, user) ~= order then
        redis.call('ZREM', further, user .. ':' .. order)
        return
    end
    -- The user may have bought twice, and then stands there by the next of these.
    local others = redis.call('ZRANGEBYLEX', further, '[' .. user .. ':', '(' .. user .. ';', 'LIMIT', 0, 1)
    if others[1] then
        redis.call('ZREM', further, others[1])
        redis.call('HSET', buyers, user, string.match(others[1], ':(.*)$'))
    else
        redis.call('HDEL', buyers, user)
    end
end
if redis.call('EXISTS', KEYS[1]) == 1 then
    if not holds(order) then return 'not held' end
    local heir = without_a_unit()
    if heir then return pass_on(heir) end
    forget(KEYS[2], KEYS[3])
    redis.call('HINCRBY', KEYS[1], 'taken', -1)
    return 'released'
end
-- Whoever loads the sale may have read the order while it was live, or have that still before it.
if redis.call('EXISTS', KEYS[4]) == 1 then
    forget(KEYS[5], KEYS[6])
    redis.call('SADD', KEYS[7], order)
    -- Should the loader die.
    redis.call('PEXPIRE', KEYS[7], 100000)
end
return 'not held'
