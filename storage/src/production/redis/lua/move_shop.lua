-- Puts a shop somewhere else, or nowhere, unless it is not where the caller has seen it.
-- KEYS: 1 places, 2 all shops, 3 those of its type until now, 4 those of its new type; what there is not is 3 or 4 again
-- ARGV: 1 the shop, 2 its place as the caller has seen it, '' for none, 3 the new one, '' for none, 4 longitude, 5 latitude
-- Answers 1, or 0 if it is somewhere else by now.
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
return 1
