-- Reserves a unit for an order that is not in the database yet, unless the order holds a unit.
-- KEYS: 1 sale, 2 buyers, 3 further units by user, 4 loader, 5 to 7 the load so far: buyers, further units,
-- released orders
-- ARGV: 1 user, 2 order
-- Returns 'taken', 'held' or 'sold out'.
local user, order = ARGV[1], ARGV[2]
local entry = user .. ':' .. order
local function note(buyers, further)
    if redis.call('HSETNX', buyers, user, order) == 0 then redis.call('ZADD', further, 0, entry) end
end
local function holds(buyers, further)
    return redis.call('HGET', buyers, user) == order or redis.call('ZSCORE', further, entry)
end
local sale = redis.call('HMGET', KEYS[1], 'units', 'taken')
if sale[2] then
    if holds(KEYS[2], KEYS[3]) then return 'held' end
    if sale[1] ~= '' and tonumber(sale[2]) >= tonumber(sale[1]) then return 'sold out' end
    note(KEYS[2], KEYS[3])
    redis.call('HINCRBY', KEYS[1], 'taken', 1)
    return 'taken'
end
-- The loader may have read past the future place of the order.
if redis.call('EXISTS', KEYS[4]) == 1 then
    redis.call('SREM', KEYS[7], order)
    if not holds(KEYS[5], KEYS[6]) then note(KEYS[5], KEYS[6]) end
end
return 'held'
