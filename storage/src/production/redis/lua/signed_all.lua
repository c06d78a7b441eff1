-- Who signed on each of some days.
-- KEYS: 1 for the length of this script; then of each day its bits, and the server that has all of them
-- Answers their bits, or nothing if it may not have all of a day.
local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
local days = {}
for i = 2, #KEYS, 2 do
    if redis.call('GET', KEYS[i + 1]) ~= id then return false end
    days[#days + 1] = KEYS[i]
end
redis.call('BITOP', 'AND', KEYS[1], unpack(days))
local all = redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
return all or ''
