-- Returns the nearest shops: for each the shop, Redis' distance in metres, and the location entry.
-- KEYS: after those of known_server.lua: 3 geo set to search, 4 locations
-- ARGV: 1 longitude, 2 latitude, 3 radius in metres, 4 maximum number of shops
-- Searches in growing circles, because a search costs as much as its circle contains, however few shops are
-- wanted.
local whole, radius, found = tonumber(ARGV[3]), 250, nil
repeat
    if radius * 2 > whole then radius = whole end
    found = redis.call('GEOSEARCH', KEYS[3], 'FROMLONLAT', ARGV[1], ARGV[2], 'BYRADIUS', radius, 'm',
        'ASC', 'COUNT', ARGV[4], 'WITHDIST')
    local is_last = radius == whole or #found == tonumber(ARGV[4])
    radius = radius * 4
until is_last
local told = {}
-- Chunks, because a call accepts a limited number of arguments.
for first = 1, #found, 1000 do
    local shops = {}
    for at = first, math.min(first + 999, #found) do shops[#shops + 1] = found[at][1] end
    local places = redis.call('HMGET', KEYS[4], unpack(shops))
    for at, shop in ipairs(shops) do
        told[#told + 1] = shop
        told[#told + 1] = found[first + at - 1][2]
        told[#told + 1] = places[at] or ''
    end
end
return told
