-- Returns the replication id of the server that has the key, or nothing if the server is a replica.
-- KEYS: 1 any key of the scope
local info = redis.call('INFO', 'replication')
if not string.find(info, 'role:master', 1, true) then return false end
return string.match(info, 'master_replid:(%x+)')
