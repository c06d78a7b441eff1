-- Claims a unit for a user. An accepted claim takes the unit, records the buyer, spends the pass and appends
-- the claim to the order log, in one atomic step.
-- KEYS: 1 sale, 2 buyers, 3 further units by user, 4 the partition's log, 5 pending claims by order, 6 pending
-- claims by user; with a pass: 7 mark of the spent pass, 8 the partition's epoch of passes
-- ARGV: 1 order, 2 user, 3 voucher, 4 time of the claim in ms, 5 '1' only to look up the user's order, 6 units
-- that the user says to hold; with a pass: 7 epoch of the pass, 8 ms left until the pass expires, 9 ms for
-- which the mark is kept
-- Returns 'accepted', 'sold out', 'ended', 'not open', 'paused', 'unknown', 'pass refused', 'none' (a look-up
-- without a result), or the number of the newest order of a user who holds enough units already.
local sale = redis.call('HMGET', KEYS[1], 'begin', 'end', 'paused', 'units', 'taken', 'waiting', 'per_user')
if not sale[1] then return 'unknown' end
local order, user, voucher, at = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- Order ids stay text: they are too large for Lua's numbers.
local held = redis.call('HGET', KEYS[2], user)
if held == order then return 'accepted' end
if held then
    -- A sale of an older mall has no such number.
    local holding, per_user = tonumber(ARGV[6]), tonumber(sale[7] or 1)
    if per_user == 1 then return held end
    local further = redis.call('ZRANGEBYLEX', KEYS[3], '[' .. user .. ':', '(' .. user .. ';')
    for _, entry in ipairs(further) do
        local other = string.match(entry, ':(.*)$')
        if other == order then return 'accepted' end
        if #other > #held or #other == #held and other > held then held = other end
    end
    local units = 1 + #further
    if units > holding or units >= per_user then return held end
end
if ARGV[5] == '1' then return 'none' end

local now = tonumber(at)
if now >= tonumber(sale[2]) then return 'ended' end
if now < tonumber(sale[1]) then return 'not open' end
if sale[3] == '1' then return 'paused' end
-- While users wait, units are for the waiting list.
if sale[6] == '1' then return 'sold out' end
-- Without units, the sale has no limit.
if sale[4] ~= '' and tonumber(sale[5]) >= tonumber(sale[4]) then return 'sold out' end

if ARGV[7] then
    if tonumber(ARGV[8]) <= 0 or redis.call('GET', KEYS[8]) ~= ARGV[7] then return 'pass refused' end
    if redis.call('EXISTS', KEYS[7]) == 1 then return 'pass refused' end
    redis.call('SET', KEYS[7], order, 'PX', ARGV[9])
end

redis.call('HINCRBY', KEYS[1], 'taken', 1)
if held then
    redis.call('ZADD', KEYS[3], 0, user .. ':' .. order)
else
    redis.call('HSET', KEYS[2], user, order)
end
redis.call('XADD', KEYS[4], '*', 'o', order, 'u', user, 'v', voucher, 't', at)
redis.call('HSET', KEYS[5], order, user .. ':' .. voucher .. ':' .. at)
redis.call('ZADD', KEYS[6], 0, user .. ':' .. order .. ':' .. voucher .. ':' .. at)
return 'accepted'
