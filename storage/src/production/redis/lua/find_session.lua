-- Whose session a token is, and whether it is worth being extended.
-- KEYS: 1 session
-- ARGV: 1 now, 2 the caller's TTL, 0 to change nothing, 3 the least extension that is worth writing; all in ms
-- Returns {user, the TTL to count from now, 0 for none}, or nothing for a dead session.
local session = redis.call('HMGET', KEYS[1], 'user', 'expires', 'ttl')
local now, ttl, step = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if not session[1] or now >= tonumber(session[2]) then return false end
if ttl == 0 then return {session[1], 0} end
local expires = tonumber(session[2])
-- Older versions stored none.
local own = tonumber(session[3] or ttl)
-- Set by a clock that ran ahead.
if expires - own > now + step then return {session[1], math.max(own, ttl)} end
if now + ttl - expires >= step then return {session[1], ttl} end
return {session[1], 0}
