-- Counts the visitors and views of a shop, or of the mall, on some days.
-- KEYS: for each day: visitors, views
-- Returns the number of distinct visitors over all days; then visitors and views of each day.
local all, counts = {}, {0}
for i = 1, #KEYS, 2 do
    all[#all + 1] = KEYS[i]
    counts[#counts + 1] = redis.call('PFCOUNT', KEYS[i])
    counts[#counts + 1] = tonumber(redis.call('GET', KEYS[i + 1]) or 0)
end
counts[1] = redis.call('PFCOUNT', unpack(all))
return counts
