-- Moves or removes a shop, by compare-and-set on the location entry.
-- KEYS: 1 locations, 2 geo set of all shops, 3 geo set of the old type, 4 geo set of the new type; without an
-- old or new type, 3 and 4 are equal; 5 changes
-- ARGV: 1 shop, 2 expected location entry, '' for none, 3 new entry, '' for none, 4 longitude, 5 latitude
-- Returns 1, or 0 if the entry is not the expected one.
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
if KEYS[3] ~= KEYS[4] or ARGV[3] == '' then redis.call('ZREM', KEYS[3], ARGV[1]) end
if ARGV[3] == '' then
    redis.call('ZREM', KEYS[2], ARGV[1])
    redis.call('HDEL', KEYS[1], ARGV[1])
else
    redis.call('GEOADD', KEYS[2], ARGV[4], ARGV[5], ARGV[1])
    redis.call('GEOADD', KEYS[4], ARGV[4], ARGV[5], ARGV[1])
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
if ARGV[3] ~= ARGV[2] then announce(KEYS[5], ARGV[1]) end
return 1
