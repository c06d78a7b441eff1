-- Makes a requester known to a phone.
-- KEYS: 1 the phone's known requesters
-- ARGV: 1 requester, 2 now in ms, 3 number of requesters known at most, 4 how long a requester is known, in ms,
-- 5 how long Redis keeps the key, in ms
local function forget(requester)
    redis.call('HDEL', KEYS[1], 'at:' .. requester, 'hour:' .. requester, 'wrong:' .. requester)
end

local fields, others, now = redis.call('HGETALL', KEYS[1]), {}, tonumber(ARGV[2])
for at = 1, #fields, 2 do
    local requester = string.match(fields[at], '^at:(.*)$')
    if requester and requester ~= ARGV[1] then
        local noted = tonumber(fields[at + 1])
        if now - noted >= tonumber(ARGV[4]) then
            forget(requester)
        else
            table.insert(others, {noted, requester})
        end
    end
end
table.sort(others, function(one, other) return one[1] < other[1] end)
for at = 1, #others + 1 - tonumber(ARGV[3]) do forget(others[at][2]) end
redis.call('HSET', KEYS[1], 'at:' .. ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
