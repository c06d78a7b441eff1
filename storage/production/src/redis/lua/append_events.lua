-- Appends events to a stream, with their positions as ids. Skips events up to the stream's newest position.
-- KEYS: 1 stream
-- ARGV: 1 number of newest entries to keep, or a few more; then position, id, kind, key, time in ms and body
-- of each event
-- Returns the number of events appended.
local newest = 0
if redis.call('EXISTS', KEYS[1]) == 1 then
    local info = redis.call('XINFO', 'STREAM', KEYS[1])
    for at = 1, #info, 2 do
        if info[at] == 'last-generated-id' then newest = tonumber(string.match(info[at + 1], '^%d+')) end
    end
end
local appended = 0
for at = 2, #ARGV, 6 do
    if tonumber(ARGV[at]) > newest then
        redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], ARGV[at] .. '-0', 'id', ARGV[at + 1],
            'kind', ARGV[at + 2], 'key', ARGV[at + 3], 'at', ARGV[at + 4], 'body', ARGV[at + 5])
        appended = appended + 1
    end
end
return appended
