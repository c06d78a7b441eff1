-- Removes settled claims from the log, if the worker has them in hand.
-- KEYS: 1 log, 2 pending claims by order, 3 pending claims by user, 4 number of refusals by order
-- ARGV: 1 group, 2 worker; then for each claim: stream id, order, entry by user
-- Returns the orders of claims that the worker does not have in hand.
local group, worker = ARGV[1], ARGV[2]

local function parts(place)
    local ms, number = string.match(place, '^(%d+)-(%d+)$')
    return tonumber(ms), tonumber(number)
end
local function is_before(place, other)
    local ms, number = parts(place)
    local other_ms, other_number = parts(other)
    return ms < other_ms or ms == other_ms and number < other_number
end

local first, last = ARGV[3], ARGV[3]
for i = 6, #ARGV, 3 do
    if is_before(ARGV[i], first) then first = ARGV[i] end
    if is_before(last, ARGV[i]) then last = ARGV[i] end
end
-- A worker has fewer claims in hand.
local held = redis.pcall('XPENDING', KEYS[1], group, first, last, 10000, worker)
local in_hand = {}
for _, entry in ipairs(held) do in_hand[entry[1]] = true end
local places, orders, entries, others = {}, {}, {}, {}
for i = 3, #ARGV, 3 do
    if in_hand[ARGV[i]] then
        places[#places + 1], orders[#orders + 1], entries[#entries + 1] = ARGV[i], ARGV[i + 1], ARGV[i + 2]
    else
        others[#others + 1] = ARGV[i + 1]
    end
end
if #places == 0 then return others end
redis.call('XACK', KEYS[1], group, unpack(places))

-- Claims are handed out in the order of the log. Before the first one still in hand, all are settled, and
-- cutting the log there costs a tenth of deleting them one by one.
local left = redis.call('XPENDING', KEYS[1], group)
local bound, apart = left[2], {}
if not bound then
    -- Up to the last one settled now: behind it are claims not handed out yet.
    last = places[1]
    for _, place in ipairs(places) do
        if is_before(last, place) then last = place end
    end
    local ms, number = string.match(last, '^(%d+)-(%d+)$')
    bound = ms .. '-' .. string.format('%.0f', number + 1)
end
for _, place in ipairs(places) do
    if not is_before(place, bound) then apart[#apart + 1] = place end
end
if #apart < #places then redis.call('XTRIM', KEYS[1], 'MINID', '=', bound) end
if #apart > 0 then redis.call('XDEL', KEYS[1], unpack(apart)) end
redis.call('HDEL', KEYS[2], unpack(orders))
redis.call('ZREM', KEYS[3], unpack(entries))
redis.call('HDEL', KEYS[4], unpack(orders))
return others
