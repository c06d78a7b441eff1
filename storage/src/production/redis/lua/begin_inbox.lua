-- Begins to fill an inbox: from now on it takes what is pushed.
-- KEYS: 1 the inbox, 2 its state
-- ARGV: 1 the number of this filling, 2 now, 3 how long it may take, in ms
if redis.call('HEXISTS', KEYS[2], 'filling') == 0 and not is_live(KEYS[2], ARGV[2]) then
    redis.call('DEL', KEYS[1], KEYS[2])
end
redis.call('HSET', KEYS[2], 'filling', ARGV[1])
for _, key in ipairs(KEYS) do
    local left = redis.call('PTTL', key)
    if left ~= -2 and left < tonumber(ARGV[3]) then redis.call('PEXPIRE', key, ARGV[3]) end
end
return 1
