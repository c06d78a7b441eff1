-- Finds the users who signed on every one of some days.
-- KEYS: 1 scratch space; then for each day: bitmap, id of the server with the complete bitmap
-- Returns the bitmap of these users, or nothing if a day may be incomplete.
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
