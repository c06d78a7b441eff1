-- Moves the expiry of a session that is still this user's; one that was ended meanwhile stays dead.
-- KEYS: 1 session
-- ARGV: 1 user, 2 the expiry it shall have, 3 how long Redis keeps it, 4 the latest expiry that a clock in order can have
-- set, 5 from which on a session lasts for good; all in ms
local session = redis.call('HMGET', KEYS[1], 'user', 'expires')
if session[1] ~= ARGV[1] then return 0 end
local expires = tonumber(session[2])
if expires >= tonumber(ARGV[2]) and (expires <= tonumber(ARGV[4]) or expires >= tonumber(ARGV[5])) then return 0 end
redis.call('HSET', KEYS[1], 'expires', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
