-- Counts a call against a rate limit, if allowed (GCRA). The stored value is the theoretical arrival time, as
-- ms and the ns beyond, because Lua's numbers do not hold an instant in ns. Spans of up to 104 days fit.
-- KEYS: 1 rate limit
-- ARGV: 1 now in ms, 2 span of a whole burst in ns, 3 step of one call in ns, 4 how long Redis keeps the key,
-- in ms
-- Returns -1 if the call is allowed, otherwise the time to wait in ns.
local now, burst, step = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local ahead = 0
local kept = redis.call('GET', KEYS[1])
if kept then
    local ms, ns = string.match(kept, '^(-?%d+):(%d+)$')
    -- A clock set back by more than a burst must not block a caller for longer than a burst.
    ahead = math.min(math.max((tonumber(ms) - now) * 1000000 + tonumber(ns), 0), burst)
end
local wait = ahead + step - burst
if wait > 0 then return wait end
ahead = ahead + step
local ns = ahead % 1000000
redis.call('SET', KEYS[1], string.format('%.0f:%.0f', now + (ahead - ns) / 1000000, ns), 'PX', ARGV[4])
return -1
