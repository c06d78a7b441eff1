-- Prefix like fence.lua, for claims and reads of pending claims. Reading the id costs a third of a claim's
-- time, so the comparison is made once per 50 ms. The record of a comparison is not replicated: a promoted
-- replica compares at once, and so does a restarted server. A server that refuses writes (no memory, no
-- replica) compares each time.
-- KEYS: after the script's own: id of the last comparison, for 50 ms
-- ARGV: after the script's own: replication id of the epoch's server, according to the database
-- Returns 'epoch:' and the server's own id if the ids differ.
do
    local compared, expected = table.remove(KEYS), table.remove(ARGV)
    if redis.call('GET', compared) ~= expected then
        local info = redis.call('INFO', 'replication')
        local id = string.match(info, 'master_replid:(%x+)')
        if id ~= expected then return 'epoch:' .. id end
        if not string.find(info, 'role:master', 1, true) then
            return redis.error_reply("READONLY this server is not the master any more")
        end
        redis.set_repl(redis.REPL_NONE)
        redis.pcall('SET', compared, expected, 'PX', 50)
        redis.set_repl(redis.REPL_ALL)
    end
end
