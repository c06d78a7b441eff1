-- How many visitors and views one thing had on some days.
-- KEYS: of each day its visitors and its views
-- Answers how many visitors there were on all of the days together; then of each day visitors and views.
local all, counts = {}, {0}
for i = 1, #KEYS, 2 do
    all[#all + 1] = KEYS[i]
    counts[#counts + 1] = redis.call('PFCOUNT', KEYS[i])
    counts[#counts + 1] = tonumber(redis.call('GET', KEYS[i + 1]) or 0)
end
counts[1] = redis.call('PFCOUNT', unpack(all))
return counts
