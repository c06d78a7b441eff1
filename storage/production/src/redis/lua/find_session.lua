-- Finds a session, and whether the session is worth extending.
-- KEYS: 1 session
-- ARGV: 1 now, 2 the caller's TTL, 0 for no extension, 3 least extension worth writing; all in ms
-- Returns {user, role, origin, created, TTL to extend by from now, 0 for none, 1 if the use is worth
-- writing, '1' with a second factor}, or nothing for an expired session. Role, origin and created are '' if
-- unknown.
local session = redis.call('HMGET', KEYS[1], 'user', 'expires', 'ttl', 'role', 'origin', 'created', 'seen',
    'factor')
local now, ttl, step = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if not session[1] or now >= tonumber(session[2]) then return false end
local found = {session[1], session[4] or '', session[5] or '', session[6] or '', 0, 0, session[8] or ''}
if ttl == 0 then return found end
local expires = tonumber(session[2])
-- Older versions stored no TTL.
local own = tonumber(session[3] or ttl)
if expires - own > now + step then
    -- The expiry was set by a clock that ran ahead.
    found[5] = math.max(own, ttl)
elseif now + ttl - expires >= step then
    found[5] = ttl
end
-- Older versions stored no times.
if not session[6] or tonumber(session[6]) > now + step then
    found[4] = ARGV[1]
    found[6] = 1
end
local seen = tonumber(session[7])
if not seen or now - seen >= step or seen > now + step then found[6] = 1 end
return found
