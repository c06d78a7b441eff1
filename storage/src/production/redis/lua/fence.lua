-- The beginning of scripts that only the server of the epoch in force may run: it asks the server who it is.
-- ARGV: behind the script's own: the server's replication id, as the database has it
-- Returns 'epoch:' and its own id if it is another. A replica has its master's id, and runs none of them.
do
    local info, expected = redis.call('INFO', 'replication'), table.remove(ARGV)
    local id = string.match(info, 'master_replid:(%x+)')
    if id ~= expected then return 'epoch:' .. id end
    if not string.find(info, 'role:master', 1, true) then
        return redis.error_reply("READONLY this server is not the master any more")
    end
end
