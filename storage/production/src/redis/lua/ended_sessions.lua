-- Returns the sessions that ended since the last call, and notes that the caller keeps copies of sessions.
-- KEYS: 1 ended sessions, 2 readers by the time of their last call
-- ARGV: 1 last entry seen, '' at the first call, 2 the reader, 3 ms without a call after which a reader is
-- gone, 4 ms for which an entry is kept
-- Returns {last entry, token, token …}.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZADD', KEYS[2], now, ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('(%.0f', now - tonumber(ARGV[3])))
redis.call('XTRIM', KEYS[1], 'MINID', '~', string.format('%.0f', now - tonumber(ARGV[4])))
if ARGV[1] == '' then
    local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
    return {newest[1] and newest[1][1] or '0-0'}
end
local answer = {ARGV[1]}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+')) do
    answer[1] = entry[1]
    answer[#answer + 1] = entry[2][2]
end
return answer
