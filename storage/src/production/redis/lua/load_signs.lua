-- Adds what the record has of a day to what was noted meanwhile: a bit is never taken away.
-- KEYS: 1 the day's bits, 2 the server that has all of them, 3 for the length of this script
-- ARGV: 1 the server that was asked before the record was, 2 the record's bits, 3 how long it counts as loaded, 4 how long
-- bits are kept, which is longer: both in ms
-- Answers whether it still is that server: another may lack what was noted meanwhile.
local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
if id ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[3], ARGV[2])
redis.call('BITOP', 'OR', KEYS[1], KEYS[1], KEYS[3])
redis.call('DEL', KEYS[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('SET', KEYS[2], id, 'PX', ARGV[3])
return 1
