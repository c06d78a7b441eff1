-- Notes holders of units of a sale that is being loaded. A repeat changes nothing.
-- KEYS: 1 who loads it, 2 buyers, 3 further units by user, 4 orders released meanwhile
-- ARGV: 1 this loader's name, 2 how long it may be silent, in ms; then for each holder: order, user, and 1 for an order,
-- 0 for what only holds a unit, which a user may have beside an order
-- Answers whether the loader still is the one.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
for i = 3, #ARGV, 3 do
    local order, user, is_order = ARGV[i], ARGV[i + 1], ARGV[i + 2]
    if redis.call('SISMEMBER', KEYS[4], order) == 0 then
        local held = redis.call('HGET', KEYS[2], user)
        if not held then
            redis.call('HSET', KEYS[2], user, order)
        elseif held ~= order and is_order == '1' then
            redis.call('HSET', KEYS[2], user, order)
            redis.call('ZREM', KEYS[3], user .. ':' .. order)
            redis.call('ZADD', KEYS[3], 0, user .. ':' .. held)
        elseif held ~= order then
            redis.call('ZADD', KEYS[3], 0, user .. ':' .. order)
        end
    end
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
-- Left behind by a loader that died: the next one begins with an empty table, if there is a next one.
for key = 2, 4 do redis.call('PEXPIRE', KEYS[key], 10 * ARGV[2]) end
return 1
