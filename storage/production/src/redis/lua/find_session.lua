-- Finds the user of a session, and whether the session is worth extending.
-- KEYS: 1 session
-- ARGV: 1 now, 2 the caller's TTL, 0 for no extension, 3 least extension worth writing; all in ms
-- Returns {user, TTL to extend by from now, 0 for none}, or nothing for an expired session.
local session = redis.call('HMGET', KEYS[1], 'user', 'expires', 'ttl')
local now, ttl, step = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if not session[1] or now >= tonumber(session[2]) then return false end
if ttl == 0 then return {session[1], 0} end
local expires = tonumber(session[2])
-- Older versions stored no TTL.
local own = tonumber(session[3] or ttl)
-- The expiry was set by a clock that ran ahead.
if expires - own > now + step then return {session[1], math.max(own, ttl)} end
if now + ttl - expires >= step then return {session[1], ttl} end
return {session[1], 0}
