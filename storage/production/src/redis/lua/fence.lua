-- Prefix of scripts that only the server of the epoch in force may run. Compares the server's own replication
-- id.
-- ARGV: after the script's own: replication id of the epoch's server, according to the database
-- Returns 'epoch:' and the server's own id if the ids differ. A replica has its master's id, and fails with
-- READONLY.
do
    local info, expected = redis.call('INFO', 'replication'), table.remove(ARGV)
    local id = string.match(info, 'master_replid:(%x+)')
    if id ~= expected then return 'epoch:' .. id end
    if not string.find(info, 'role:master', 1, true) then
        return redis.error_reply("READONLY this server is not the master any more")
    end
end
