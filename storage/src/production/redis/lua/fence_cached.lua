-- The same as fence.lua for claims and reads of pending claims: asking costs a third of a claim's time, so the comparison is
-- made once in 50 ms. The note of the comparison stays on this server: a replica that takes its place compares at once, and
-- so does a server that was restarted. A server that refuses writes (no memory, no replica) compares each time.
-- KEYS: behind the script's own: the id that was compared a moment ago
-- ARGV: behind the script's own: the server's replication id, as the database has it
-- Returns 'epoch:' and its own id if it is another.
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
