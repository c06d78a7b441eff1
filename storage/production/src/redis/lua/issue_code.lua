-- Stores a new login code for a phone, if the rules allow.
-- KEYS: 1 the phone's login code
-- ARGV: 1 code, 2 now, 3 expiry, 4 least time between two codes, 5 codes per day, 0 for no limit, 6 length of
-- a day, 7 how long Redis keeps the key; all times in ms
-- Returns {'issued', 0}, {'too soon', ms to wait} or {'too many', ms to wait}.
local before = redis.call('HMGET', KEYS[1], 'issued', 'day', 'count')
local now, gap, per_day, day = tonumber(ARGV[2]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local day_began, count = ARGV[2], 0
if before[1] then
    -- A clock that was set back locks no phone out: gap and day are counted from the first call after the
    -- change.
    local issued, began = math.min(tonumber(before[1]), now), math.min(tonumber(before[2]), now)
    redis.call('HSET', KEYS[1], 'issued', issued, 'day', began)
    local wait = gap - (now - issued)
    if wait > 0 then return {'too soon', wait} end
    local of_day = now - began
    if of_day < day then
        day_began, count = began, tonumber(before[3])
        if per_day > 0 and count >= per_day then return {'too many', day - of_day} end
    end
end
redis.call('HSET', KEYS[1], 'code', ARGV[1], 'expires', ARGV[3], 'wrong', 0,
    'issued', ARGV[2], 'day', day_began, 'count', count + 1)
redis.call('PEXPIRE', KEYS[1], ARGV[7])
return {'issued', 0}
