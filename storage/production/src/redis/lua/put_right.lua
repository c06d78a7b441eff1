-- Marks a server's data as restored. No effect if another server has taken over in the meantime.
-- KEYS: 1 replication id of the last restored server, 2 record of a recent comparison (unused)
-- ARGV: 1 replication id of the restored server
-- Returns 1 if this is still the restored server.
local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
if id ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], id)
return 1
