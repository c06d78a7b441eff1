-- Notes the use of a session that still belongs to this user, and extends the session. A session that has
-- ended in the meantime stays ended.
-- KEYS: 1 session
-- ARGV: 1 user, 2 now, 3 new expiry, 4 TTL behind the new expiry, 0 for no extension, 5 least extension worth
-- writing, 6 how long Redis keeps the session; all in ms
-- Returns 1 if the expiry was changed.
local session = redis.call('HMGET', KEYS[1], 'user', 'expires', 'ttl', 'created', 'seen')
if session[1] ~= ARGV[1] then return 0 end
local now = tonumber(ARGV[2])
local soon = now + tonumber(ARGV[5])
local seen = tonumber(session[5])
if not seen or seen < now or seen > soon then redis.call('HSET', KEYS[1], 'seen', ARGV[2]) end
if not session[4] or tonumber(session[4]) > soon then redis.call('HSET', KEYS[1], 'created', ARGV[2]) end
if ARGV[4] == '0' then return 0 end
local expires = tonumber(session[2])
local is_ahead = expires - tonumber(session[3] or ARGV[4]) > soon
if expires >= tonumber(ARGV[3]) and not is_ahead then return 0 end
redis.call('HSET', KEYS[1], 'expires', ARGV[3], 'ttl', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return 1
