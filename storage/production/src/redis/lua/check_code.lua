-- Checks a login code. A correct code is consumed; too many wrong attempts revoke the code.
-- KEYS: 1 the machine's code for the phone, 2 the code of the ticket, or the phone's codes for the requester,
-- 3 the phone's known requesters, 4 the phone's counters
-- ARGV: 1 code, 2 now, 3 latest expiry that a correct clock can have set, 4 the same for the machine's code,
-- 5 number of wrong attempts that revoke the code, 6 requester, 7 wrong attempts per hour, 0 for no limit,
-- 8 length of an hour, 9 how long a requester is known, 10 how long Redis keeps the counters; all times in ms
-- Returns {'right' | 'wrong' | 'none', 0} or {'too many', ms to wait}.
local now, hour = tonumber(ARGV[2]), tonumber(ARGV[8])

-- Returns the live code of a key.
local function live(key, latest)
    local stored = redis.call('HMGET', key, 'code', 'expires')
    local expires = tonumber(stored[2])
    if stored[1] and now < expires and expires <= tonumber(latest) then return stored[1] end
    return nil
end

if live(KEYS[1], ARGV[4]) == ARGV[1] then
    redis.call('DEL', KEYS[1])
    return {'right', 0}
end
local code = live(KEYS[2], ARGV[3])
if not code then return {'none', 0} end

-- Wrong attempts of a known requester are counted beside its time, those of all others with the phone.
local noted = redis.call('HGET', KEYS[3], 'at:' .. ARGV[6])
local is_known = noted and now - tonumber(noted) < tonumber(ARGV[9])
local key, hour_field, wrong_field = KEYS[4], 'hour', 'wrong'
if is_known then key, hour_field, wrong_field = KEYS[3], 'hour:' .. ARGV[6], 'wrong:' .. ARGV[6] end
local stored = redis.call('HMGET', key, hour_field, wrong_field)
local began, wrong = tonumber(stored[1] or 0), tonumber(stored[2] or 0)
if began > now then
    began = now
    redis.call('HSET', key, hour_field, ARGV[2])
end
if now - began >= hour then began, wrong = now, 0 end
local most = tonumber(ARGV[7])
if most > 0 and wrong >= most then return {'too many', hour - (now - began)} end

if code == ARGV[1] then
    redis.call('HDEL', KEYS[2], 'code')
    return {'right', 0}
end
redis.call('HSET', key, hour_field, string.format('%.0f', began), wrong_field, wrong + 1)
if not is_known then redis.call('PEXPIRE', key, ARGV[10]) end
if redis.call('HINCRBY', KEYS[2], 'wrong', 1) >= tonumber(ARGV[5]) then redis.call('HDEL', KEYS[2], 'code') end
return {'wrong', 0}
