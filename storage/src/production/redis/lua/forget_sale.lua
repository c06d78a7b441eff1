-- Drops a sale, and what was loaded of it so far.
-- KEYS: 1 to 7 the sale's, 8 the sales of the partition
-- ARGV: 1 voucher, 2 whether it is to be known as one of them all the same
for key = 1, 7 do redis.call('UNLINK', KEYS[key]) end
if ARGV[2] == '0' then redis.call('SREM', KEYS[8], ARGV[1]) end
return 1
