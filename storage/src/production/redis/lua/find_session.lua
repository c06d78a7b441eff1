-- Whose session a token is, and whether it is worth being extended.
-- KEYS: 1 session
-- ARGV: 1 now, 2 the expiry it shall have, 3 the least extension that is worth writing, 4 the latest expiry that a clock in
-- order can have set, 5 from which on a session lasts for good; all in ms
-- Answers {user, 1 if it is to be extended}, or nothing for a dead one.
local session = redis.call('HMGET', KEYS[1], 'user', 'expires')
if not session[1] or tonumber(ARGV[1]) >= tonumber(session[2]) then return false end
local expires = tonumber(session[2])
local is_worth_it = tonumber(ARGV[2]) - expires >= tonumber(ARGV[3]) or (expires > tonumber(ARGV[4]) and expires < tonumber(ARGV[5]))
return {session[1], is_worth_it and 1 or 0}
