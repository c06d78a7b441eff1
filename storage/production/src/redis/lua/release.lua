-- Releases the unit that this order holds. If another order of the user should hold a unit and has none in
-- Redis (Redis lost that order, and sold the user a second unit), the unit passes to the other order.
-- KEYS: 1 sale, 2 buyers, 3 further units by user, 4 loader, 5 to 7 the load so far: buyers, further units,
-- released orders
-- ARGV: 1 user, 2 order; then the user's orders that hold a unit according to the database
-- Returns 'released', 'not held', or the order that holds the unit now.
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
    -- A user who bought twice stays a buyer by the next of these orders.
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
-- The loader may have read the order while the order was live, or may still read the order.
if redis.call('EXISTS', KEYS[4]) == 1 then
    forget(KEYS[5], KEYS[6])
    redis.call('SADD', KEYS[7], order)
    -- Cleanup in case the loader dies.
    redis.call('PEXPIRE', KEYS[7], 100000)
end
return 'not held'
