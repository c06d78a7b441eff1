-- Hands claims of one partition to a worker: first returned claims, then new claims.
-- KEYS: 1 log, 2 number of refusals by order
-- ARGV: 1 group, 2 worker, 3 maximum number of claims, 4 consumer of returned claims
-- Returns {number of claims left, then for each claim: stream id, order, user, voucher, time, refusals}.
local group, worker, max, nobody = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local length = redis.call('XLEN', KEYS[1])
if length == 0 then return {0} end
local handed = redis.pcall('XPENDING', KEYS[1], group)
if handed.err then
    if not string.find(handed.err, 'NOGROUP', 1, true) then return handed end
    redis.call('XGROUP', 'CREATE', KEYS[1], group, 0)
    handed = redis.call('XPENDING', KEYS[1], group)
end
local fresh, returned = length - handed[1], 0
for _, of in ipairs(handed[4] or {}) do
    if of[1] == nobody then returned = tonumber(of[2]) end
end

local answer = {0}
local function hand_out(entries, was_refused)
    for _, entry in ipairs(entries) do
        local claim = entry[2]
        local refusals = was_refused and redis.call('HGET', KEYS[2], claim[2]) or '0'
        for _, value in ipairs({entry[1], claim[2], claim[4], claim[6], claim[8], refusals}) do
            answer[#answer + 1] = value
        end
    end
    return #entries
end
local taken = 0
if returned > 0 then
    local places = {}
    for _, entry in ipairs(redis.call('XPENDING', KEYS[1], group, '-', '+', max, nobody)) do
        places[#places + 1] = entry[1]
    end
    taken = hand_out(redis.call('XCLAIM', KEYS[1], group, worker, 0, unpack(places)), true)
    returned = returned - #places
end
if taken < max and fresh > 0 then
    local read = redis.call('XREADGROUP', 'GROUP', group, worker, 'COUNT', max - taken, 'STREAMS', KEYS[1], '>')
    if read then fresh = fresh - hand_out(read[1][2], false) end
end
answer[1] = fresh + returned
return answer
