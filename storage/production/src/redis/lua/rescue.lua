-- Moves the claims of silent workers to the consumer of returned claims, and deletes the silent workers.
-- KEYS: 1 log
-- ARGV: 1 group, 2 consumer of returned claims, 3 silence in ms after which a worker counts as dead, 4
-- maximum number of claims
-- Returns the number of moved claims.
local group, nobody, silence, max = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local workers = redis.pcall('XINFO', 'CONSUMERS', KEYS[1], group)
-- The log or the group does not exist yet.
if workers.err then return 0 end
local rescued = 0
for _, facts in ipairs(workers) do
    local worker = {}
    for i = 1, #facts, 2 do worker[facts[i]] = facts[i + 1] end
    if worker.name ~= nobody and worker.idle >= silence and rescued < max then
        local held = redis.call('XPENDING', KEYS[1], group, '-', '+', max - rescued, worker.name)
        local places = {}
        for _, entry in ipairs(held) do places[#places + 1] = entry[1] end
        rescued = rescued + #held
        if #held > 0 then
            places[#places + 1] = 'JUSTID'
            redis.call('XCLAIM', KEYS[1], group, nobody, 0, unpack(places))
        end
        if #held == worker.pending then redis.call('XGROUP', 'DELCONSUMER', KEYS[1], group, worker.name) end
    end
end
return rescued
