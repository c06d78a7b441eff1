-- Tries a login code. The right one is used up; too many wrong ones kill it.
-- KEYS: 1 the phone's codes
-- ARGV: 1 code, 2 now in ms, 3 wrong tries that kill it
-- Answers a word.
local known = redis.call('HMGET', KEYS[1], 'code', 'expires')
if not known[1] or tonumber(ARGV[2]) >= tonumber(known[2]) then return 'none' end
if known[1] == ARGV[1] then
    redis.call('HDEL', KEYS[1], 'code')
    return 'right'
end
if redis.call('HINCRBY', KEYS[1], 'wrong', 1) >= tonumber(ARGV[3]) then redis.call('HDEL', KEYS[1], 'code') end
return 'wrong'
