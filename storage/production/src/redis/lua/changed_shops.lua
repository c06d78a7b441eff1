-- Returns the shops put, moved or removed since an entry of the stream of changes.
-- KEYS: after those of known_server.lua: 3 locations, 4 changes
-- ARGV: 1 last entry read, '' at the first call, 2 maximum number of entries to read
-- Returns at the first call {newest entry, number of shops}; then {last entry read, number of entries read,
-- shop, location entry or '', shop, …}.
if ARGV[1] == '' then
    local newest = redis.call('XREVRANGE', KEYS[4], '+', '-', 'COUNT', 1)
    return {newest[1] and newest[1][1] or '0-0', tostring(redis.call('HLEN', KEYS[3]))}
end
local changes = redis.call('XRANGE', KEYS[4], '(' .. ARGV[1], '+', 'COUNT', ARGV[2])
local told = {ARGV[1], tostring(#changes)}
for _, change in ipairs(changes) do
    told[1] = change[1]
    for shop in string.gmatch(change[2][2], '%S+') do
        told[#told + 1] = shop
        told[#told + 1] = redis.call('HGET', KEYS[3], shop) or ''
    end
end
return told
