-- Moves the expiry of a session that is still this user's; one that was ended meanwhile stays dead.
-- KEYS: 1 session
-- ARGV: 1 user, 2 now, 3 the expiry it shall have, 4 the TTL that this comes from, 5 the least extension that is worth
-- writing, 6 how long Redis keeps it; all in ms
local session = redis.call('HMGET', KEYS[1], 'user', 'expires', 'ttl')
if session[1] ~= ARGV[1] then return 0 end
local expires = tonumber(session[2])
local is_ahead = expires - tonumber(session[3] or ARGV[4]) > tonumber(ARGV[2]) + tonumber(ARGV[5])
if expires >= tonumber(ARGV[3]) and not is_ahead then return 0 end
redis.call('HSET', KEYS[1], 'expires', ARGV[3], 'ttl', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return 1
