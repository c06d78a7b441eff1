-- Adds a note to each inbox that is live or being filled, and drops the other inboxes.
-- KEYS: inboxes and states, alternating
-- ARGV: 1 time of writing in ms, 2 note, 3 now in ms, 4 capacity of an inbox in notes
-- Returns the number of inboxes that took the note.
local pushed = 0
for i = 1, #KEYS, 2 do
    local known = redis.call('HMGET', KEYS[i + 1], 'until', 'filling')
    if known[2] or (known[1] and tonumber(known[1]) > tonumber(ARGV[3])) then
        redis.call('ZADD', KEYS[i], ARGV[1], ARGV[2])
        trim(KEYS[i], KEYS[i + 1], ARGV[4])
        -- A set created by this ZADD expires with the state.
        if redis.call('PTTL', KEYS[i]) == -1 then
            redis.call('PEXPIRE', KEYS[i], math.max(redis.call('PTTL', KEYS[i + 1]), 1))
        end
        pushed = pushed + 1
    else
        redis.call('DEL', KEYS[i], KEYS[i + 1])
    end
end
return pushed
