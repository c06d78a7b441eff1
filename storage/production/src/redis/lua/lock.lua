-- Acquires a lock, or re-enters a held lock. A repeat with the same entry only renews the lease.
-- KEYS: 1 lock, 2 last fencing token
-- ARGV: 1 owner, 2 entry, 3 lease in ms
-- Returns {token, nothing}, or {nothing, remaining lease in ms} if another owner holds the lock.
local lock = redis.call('HMGET', KEYS[1], 'owner', 'token')
if lock[1] and lock[1] ~= ARGV[1] then return {false, redis.call('PTTL', KEYS[1])} end
local token = lock[2]
if not token then
    -- The token is the server's time in µs, or the last token plus one: tokens rise even if Redis lost the
    -- last token.
    local time = redis.call('TIME')
    local last = tonumber(redis.call('GET', KEYS[2]) or '0')
    token = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1))
    redis.call('SET', KEYS[2], token)
    redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'token', token)
end
redis.call('HSET', KEYS[1], 'in:' .. ARGV[2], '')
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return {token, false}
