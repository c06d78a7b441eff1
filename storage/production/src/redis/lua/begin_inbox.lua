-- Begins to fill an inbox: from now on, the inbox accepts pushed notes.
-- KEYS: 1 inbox, 2 state
-- ARGV: 1 number of this fill, 2 now in ms, 3 time limit of the fill in ms
if redis.call('HEXISTS', KEYS[2], 'filling') == 0 and not is_live(KEYS[2], ARGV[2]) then
    redis.call('DEL', KEYS[1], KEYS[2])
end
redis.call('HSET', KEYS[2], 'filling', ARGV[1])
for _, key in ipairs(KEYS) do
    local left = redis.call('PTTL', key)
    if left ~= -2 and left < tonumber(ARGV[3]) then redis.call('PEXPIRE', key, ARGV[3]) end
end
return 1
