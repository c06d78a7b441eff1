-- Adds a note to the inboxes that are live or being filled, and drops the others.
-- KEYS: inboxes and their states in turn
-- ARGV: 1 when it was written, 2 the note, 3 now, 4 how many an inbox may hold
-- Answers how many took it.
local pushed = 0
for i = 1, #KEYS, 2 do
    local known = redis.call('HMGET', KEYS[i + 1], 'until', 'filling')
    if known[2] or (known[1] and tonumber(known[1]) > tonumber(ARGV[3])) then
        redis.call('ZADD', KEYS[i], ARGV[1], ARGV[2])
        trim(KEYS[i], KEYS[i + 1], ARGV[4])
        -- A set that is made by it goes when its state goes.
        if redis.call('PTTL', KEYS[i]) == -1 then
            redis.call('PEXPIRE', KEYS[i], math.max(redis.call('PTTL', KEYS[i + 1]), 1))
        end
        pushed = pushed + 1
    else
        redis.call('DEL', KEYS[i], KEYS[i + 1])
    end
end
return pushed
