-- One person's attempt to buy: decides it, and if it is accepted takes the unit, remembers the buyer and puts the claim
-- into the order log, all in one step.
-- KEYS: 1 sale, 2 its buyers, 3 the partition's log, 4 its pending claims by order, 5 the same by user
-- ARGV: 1 order, 2 user, 3 voucher, 4 the claim's instant in ms, 5 '1' only to learn which order the user holds
-- Answers a word; of somebody who holds a unit already, the order's number.
local sale = redis.call('HMGET', KEYS[1], 'begin', 'end', 'paused', 'units', 'taken')
if not sale[1] then return 'unknown' end
local order, user, voucher, at = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- Orders stay text: they are too large for Lua's numbers.
local held = redis.call('HGET', KEYS[2], user)
if held == order then return 'accepted' end
if held then return held end
if ARGV[5] == '1' then return 'none' end

local now = tonumber(at)
if now >= tonumber(sale[2]) then return 'ended' end
if now < tonumber(sale[1]) then return 'not open' end
if sale[3] == '1' then return 'paused' end
-- No units: as many as anybody wants.
if sale[4] ~= '' and tonumber(sale[5]) >= tonumber(sale[4]) then return 'sold out' end

redis.call('HINCRBY', KEYS[1], 'taken', 1)
redis.call('HSET', KEYS[2], user, order)
redis.call('XADD', KEYS[3], '*', 'o', order, 'u', user, 'v', voucher, 't', at)
redis.call('HSET', KEYS[4], order, user .. ':' .. voucher .. ':' .. at)
redis.call('ZADD', KEYS[5], 0, user .. ':' .. order .. ':' .. voucher .. ':' .. at)
return 'accepted'
