-- Moves claims from a worker to the consumer of returned claims.
-- KEYS: 1 log, 2 number of refusals by order
-- ARGV: 1 group, 2 worker, 3 consumer of returned claims, 4 '1' if the database refused the claims; then for
-- each claim: stream id, order
-- Returns the number of moved claims. A repeat moves none, and so counts no refusal twice.
local group, worker, nobody, was_refused = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'
local returned = 0
for i = 5, #ARGV, 2 do
    local held = redis.pcall('XPENDING', KEYS[1], group, ARGV[i], ARGV[i], 1, worker)
    if #held == 1 then
        redis.call('XCLAIM', KEYS[1], group, nobody, 0, ARGV[i], 'JUSTID')
        if was_refused then redis.call('HINCRBY', KEYS[2], ARGV[i + 1], 1) end
        returned = returned + 1
    end
end
return returned
