-- Drops a sale, with any load in progress. Keeps the sale's fencing token for the partition, if the greatest.
-- KEYS: 1 to 7 keys of the sale, 8 sales of the partition, 9 greatest fencing token of the partition's
-- forgotten sales
-- ARGV: 1 voucher, 2 '0' to remove the sale from the partition's sales too
local token = redis.call('HGET', KEYS[1], 'token')
if token and tonumber(redis.call('GET', KEYS[9]) or '0') < tonumber(token) then
    redis.call('SET', KEYS[9], token)
end
for key = 1, 7 do redis.call('UNLINK', KEYS[key]) end
if ARGV[2] == '0' then redis.call('SREM', KEYS[8], ARGV[1]) end
return 1
