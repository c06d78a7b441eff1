-- Claims a unit for a user. An accepted claim takes the unit, records the buyer, spends the pass and appends
-- the claim to the order log, in one atomic step.
-- KEYS: 1 sale, 2 buyers, 3 the partition's log, 4 pending claims by order, 5 pending claims by user;
-- with a pass: 6 mark of the spent pass, 7 the partition's epoch of passes
-- ARGV: 1 order, 2 user, 3 voucher, 4 time of the claim in ms, 5 '1' only to look up the user's order;
-- with a pass: 6 epoch of the pass, 7 ms left until the pass expires, 8 ms for which the mark is kept
-- Returns 'accepted', 'sold out', 'ended', 'not open', 'paused', 'unknown', 'pass refused', 'none' (a look-up
-- without a result), or the number of the order that holds the user's unit already.
local sale = redis.call('HMGET', KEYS[1], 'begin', 'end', 'paused', 'units', 'taken', 'waiting')
if not sale[1] then return 'unknown' end
local order, user, voucher, at = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- Order ids stay text: they are too large for Lua's numbers.
local held = redis.call('HGET', KEYS[2], user)
if held == order then return 'accepted' end
if held then return held end
if ARGV[5] == '1' then return 'none' end

local now = tonumber(at)
if now >= tonumber(sale[2]) then return 'ended' end
if now < tonumber(sale[1]) then return 'not open' end
if sale[3] == '1' then return 'paused' end
-- While users wait, units are for the waiting list.
if sale[6] == '1' then return 'sold out' end
-- Without units, the sale has no limit.
if sale[4] ~= '' and tonumber(sale[5]) >= tonumber(sale[4]) then return 'sold out' end

if ARGV[6] then
    if tonumber(ARGV[7]) <= 0 or redis.call('GET', KEYS[7]) ~= ARGV[6] then return 'pass refused' end
    if redis.call('EXISTS', KEYS[6]) == 1 then return 'pass refused' end
    redis.call('SET', KEYS[6], order, 'PX', ARGV[8])
end

redis.call('HINCRBY', KEYS[1], 'taken', 1)
redis.call('HSET', KEYS[2], user, order)
redis.call('XADD', KEYS[3], '*', 'o', order, 'u', user, 'v', voucher, 't', at)
redis.call('HSET', KEYS[4], order, user .. ':' .. voucher .. ':' .. at)
redis.call('ZADD', KEYS[5], 0, user .. ':' .. order .. ':' .. voucher .. ':' .. at)
return 'accepted'
