-- Puts shops that are nowhere yet.
-- KEYS: 1 places, 2 all shops; then those of each type there is among them
-- ARGV: for each shop: the shop, its place, longitude, latitude, the number of its type's key
-- Answers those that are somewhere else.
local elsewhere = {}
for at = 1, #ARGV, 5 do
    local shop, place, lng, lat = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
    local known = redis.call('HGET', KEYS[1], shop)
    if not known then
        redis.call('GEOADD', KEYS[2], lng, lat, shop)
        redis.call('GEOADD', KEYS[tonumber(ARGV[at + 4])], lng, lat, shop)
        redis.call('HSET', KEYS[1], shop, place)
    elseif known ~= place then
        elsewhere[#elsewhere + 1] = shop
    end
end
return elsewhere
