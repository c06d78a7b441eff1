-- Counts the users who signed, for each of some days.
-- KEYS: for each day: bitmap, id of the server with the complete bitmap
-- Returns this server's replication id, and the counts: -1 for a day whose bitmap may be incomplete.
local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
local counts = {}
for i = 1, #KEYS, 2 do
    local is_loaded = redis.call('GET', KEYS[i + 1]) == id
    counts[#counts + 1] = is_loaded and redis.call('BITCOUNT', KEYS[i]) or -1
end
return {id, counts}
