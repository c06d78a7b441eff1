-- Stores a new login code, if the rules allow.
-- KEYS: 1 the phone's codes for the requester, 2 the ticket's code, or key 1 again without a ticket, 3 the
-- phone's known requesters, 4 the phone's counters, 5 the mall's counter
-- ARGV: 1 code, 2 now, 3 expiry, 4 requester, 5 least time between two codes, 6 codes per day, 7 codes per day
-- of the phone, 8 codes per day of the mall, 9 the part of 8 for unknown requesters, 10 whether the phone is an
-- operator's, 11 length of a day, 12 how long a requester is known, 13 how long Redis keeps the counters,
-- 14 how long Redis keeps the code; all times in ms, 0 for no limit
-- Returns {'issued', codes of the mall}, or {'too soon' | 'too many' | 'phone' | 'mall', ms to wait}.
local now, day = tonumber(ARGV[2]), tonumber(ARGV[11])
local noted = redis.call('HGET', KEYS[3], 'at:' .. ARGV[4])
local is_known = noted and now - tonumber(noted) < tonumber(ARGV[12])

-- Reads a counter. A clock that was set back locks no phone out: the day is counted from the first call after
-- the change. Returns the begin of the day, the count, and the time until the day ends if the day is full.
local function counter(key, max)
    local stored = redis.call('HMGET', key, 'day', 'count')
    if not stored[1] then return ARGV[2], 0, nil end
    local began, count = tonumber(stored[1]), tonumber(stored[2])
    if began > now then
        began = now
        redis.call('HSET', key, 'day', ARGV[2])
    end
    if now - began >= day then return ARGV[2], 0, nil end
    if max > 0 and count >= max then return began, count, day - (now - began) end
    return string.format('%.0f', began), count, nil
end

local function put(key, began, count)
    redis.call('HSET', key, 'day', began, 'count', count + 1)
    redis.call('PEXPIRE', key, ARGV[13])
end

local own_day, own_count, own_wait = counter(KEYS[1], tonumber(ARGV[6]))
local issued = tonumber(redis.call('HGET', KEYS[1], 'issued'))
if issued then
    if issued > now then
        issued = now
        redis.call('HSET', KEYS[1], 'issued', ARGV[2])
    end
    local wait = tonumber(ARGV[5]) - (now - issued)
    if wait > 0 then return {'too soon', wait} end
end
if own_wait then return {'too many', own_wait} end
local phone_day, phone_count, phone_wait = counter(KEYS[4], tonumber(ARGV[7]))
if phone_wait and not is_known then return {'phone', phone_wait} end
local budget = tonumber(ARGV[9])
if is_known or ARGV[10] == '1' then budget = tonumber(ARGV[8]) end
local mall_day, mall_count, mall_wait = counter(KEYS[5], budget)
if mall_wait then return {'mall', mall_wait} end

put(KEYS[1], own_day, own_count)
redis.call('HSET', KEYS[1], 'issued', ARGV[2])
if not is_known then put(KEYS[4], phone_day, phone_count) end
put(KEYS[5], mall_day, mall_count)
redis.call('HSET', KEYS[2], 'code', ARGV[1], 'expires', ARGV[3], 'wrong', 0)
if KEYS[2] ~= KEYS[1] then redis.call('PEXPIRE', KEYS[2], ARGV[14]) end
return {'issued', mall_count + 1}
