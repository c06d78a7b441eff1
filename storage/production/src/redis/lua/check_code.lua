-- Checks a login code. A correct code is consumed; too many wrong attempts revoke the code.
-- KEYS: 1 the phone's login code
-- ARGV: 1 code, 2 now in ms, 3 number of wrong attempts that revoke the code, 4 latest expiry that a correct
-- clock can have set, in ms
-- Returns 'right', 'wrong' or 'none'.
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
