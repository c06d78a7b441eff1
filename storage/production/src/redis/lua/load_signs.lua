-- Merges a day's sign-ins from the database with the bits noted in the meantime. Bits are never cleared.
-- KEYS: 1 bitmap, 2 id of the server with the complete bitmap, 3 scratch space
-- ARGV: 1 replication id read before the database, 2 bitmap from the database, 3 how long the day counts as
-- loaded, 4 how long Redis keeps bitmaps, which is longer: both in ms
-- Returns 1, or 0 if the server has changed: another server may lack bits noted in the meantime.
local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
if id ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[3], ARGV[2])
redis.call('BITOP', 'OR', KEYS[1], KEYS[1], KEYS[3])
redis.call('DEL', KEYS[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('SET', KEYS[2], id, 'PX', ARGV[3])
return 1
