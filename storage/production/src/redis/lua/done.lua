-- Removes settled claims from the log, if the worker has them in hand.
-- KEYS: 1 log, 2 pending claims by order, 3 pending claims by user, 4 number of refusals by order
-- ARGV: 1 group, 2 worker; then for each claim: stream id, order, entry by user
-- Returns the orders of claims that the worker does not have in hand.
local group, worker = ARGV[1], ARGV[2]
local places, orders, entries, others = {}, {}, {}, {}
for i = 3, #ARGV, 3 do
    local held = redis.pcall('XPENDING', KEYS[1], group, ARGV[i], ARGV[i], 1, worker)
    if #held == 1 then
        places[#places + 1], orders[#orders + 1], entries[#entries + 1] = ARGV[i], ARGV[i + 1], ARGV[i + 2]
    else
        others[#others + 1] = ARGV[i + 1]
    end
end
if #places == 0 then return others end
redis.call('XACK', KEYS[1], group, unpack(places))
redis.call('XDEL', KEYS[1], unpack(places))
redis.call('HDEL', KEYS[2], unpack(orders))
redis.call('ZREM', KEYS[3], unpack(entries))
redis.call('HDEL', KEYS[4], unpack(orders))
return others
