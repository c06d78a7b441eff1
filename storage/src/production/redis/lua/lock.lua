-- Takes a lock, or enters it once more. A repeat with the same entry changes nothing but the lease.
-- KEYS: 1 lock, 2 the last token that was given out
-- ARGV: 1 owner, 2 entry, 3 lease in ms
-- Answers {token, nothing}, or {nothing, ms until it is free at the latest}.
local lock = redis.call('HMGET', KEYS[1], 'owner', 'token')
if lock[1] and lock[1] ~= ARGV[1] then return {false, redis.call('PTTL', KEYS[1])} end
local token = lock[2]
if not token then
    -- The server's microseconds, or one more than the last: tokens rise even if Redis has lost the last one.
    local time = redis.call('TIME')
    local last = tonumber(redis.call('GET', KEYS[2]) or '0')
    token = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1))
    redis.call('SET', KEYS[2], token)
    redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'token', token)
end
redis.call('HSET', KEYS[1], 'in:' .. ARGV[2], '')
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return {token, false}
