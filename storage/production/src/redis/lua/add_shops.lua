-- Adds shops that have no location yet.
-- KEYS: 1 locations, 2 geo set of all shops, 3 changes; then the geo set of each shop type
-- ARGV: for each shop: id, location entry, longitude, latitude, index of its type's key in KEYS
-- Returns the shops that already have a different location.
local elsewhere, added = {}, {}
for at = 1, #ARGV, 5 do
    local shop, place, lng, lat = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
    local known = redis.call('HGET', KEYS[1], shop)
    if not known then
        redis.call('GEOADD', KEYS[2], lng, lat, shop)
        redis.call('GEOADD', KEYS[tonumber(ARGV[at + 4])], lng, lat, shop)
        redis.call('HSET', KEYS[1], shop, place)
        added[#added + 1] = shop
    elseif known ~= place then
        elsewhere[#elsewhere + 1] = shop
    end
end
if #added > 0 then announce(KEYS[3], table.concat(added, ' ')) end
return elsewhere
