-- Records holders of units of a sale during a load. A repeat has no effect.
-- KEYS: 1 loader, 2 buyers, 3 further units by user, 4 orders released in the meantime
-- ARGV: 1 name of this loader, 2 timeout of a loader in ms; then for each holder: order, user, and 1 for an
-- order or 0 for a mere unit (a dead letter or pending claim), which a user may have beside an order
-- Returns 1 while the loader still holds the loading key, otherwise 0.
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
-- Cleanup after a loader that died. The next loader begins with empty tables, but perhaps no loader follows.
for key = 2, 4 do redis.call('PEXPIRE', KEYS[key], 10 * ARGV[2]) end
return 1
