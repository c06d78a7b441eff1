-- Tries a login code. The right one is used up; too many wrong ones kill it.
-- KEYS: 1 the phone's codes
-- ARGV: 1 code, 2 now in ms, 3 wrong tries that kill it, 4 the latest expiry in ms that a clock in order can have set
-- Answers a word.
local known = redis.call('HMGET', KEYS[1], 'code', 'expires')
if not known[1] then return 'none' end
local expires = tonumber(known[2])
if tonumber(ARGV[2]) >= expires or expires > tonumber(ARGV[4]) then return 'none' end
if known[1] == ARGV[1] then
    redis.call('HDEL', KEYS[1], 'code')
    return 'right'
end
if redis.call('HINCRBY', KEYS[1], 'wrong', 1) >= tonumber(ARGV[3]) then redis.call('HDEL', KEYS[1], 'code') end
return 'wrong'
