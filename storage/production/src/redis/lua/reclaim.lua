-- Moves all claims of a worker to the consumer of returned claims.
-- KEYS: 1 log
-- ARGV: 1 group, 2 worker, 3 consumer of returned claims, 4 maximum number of claims
-- Returns the number of moved claims.
local group, worker, nobody = ARGV[1], ARGV[2], ARGV[3]
local held = redis.pcall('XPENDING', KEYS[1], group, '-', '+', ARGV[4], worker)
local places = {}
for _, entry in ipairs(held) do places[#places + 1] = entry[1] end
local count = #places
if count > 0 then
    places[count + 1] = 'JUSTID'
    redis.call('XCLAIM', KEYS[1], group, nobody, 0, unpack(places))
end
return count
