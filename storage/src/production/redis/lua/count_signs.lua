-- How many signed on each of some days.
-- KEYS: of each day its bits, and the server that has all of them
-- Answers this server's id, and the counts: -1 for a day of which it may not have all.
local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
local counts = {}
for i = 1, #KEYS, 2 do
    local is_loaded = redis.call('GET', KEYS[i + 1]) == id
    counts[#counts + 1] = is_loaded and redis.call('BITCOUNT', KEYS[i]) or -1
end
return {id, counts}
