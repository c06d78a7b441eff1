-- Drops a sale, with any load in progress.
-- KEYS: 1 to 7 keys of the sale, 8 sales of the partition
-- ARGV: 1 voucher, 2 '0' to remove the sale from the partition's sales too
for key = 1, 7 do redis.call('UNLINK', KEYS[key]) end
if ARGV[2] == '0' then redis.call('SREM', KEYS[8], ARGV[1]) end
return 1
