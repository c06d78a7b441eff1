-- The same as fence.lua for claims: asking costs a third of a claim's time, so it is done once in 50 ms. That it was done is
-- noted on this server alone: a replica that takes its place asks at once.
-- KEYS: 6, behind the script's own: the id that was compared a moment ago
-- ARGV: 6, behind the script's own: the server's replication id, as the database has it
-- Returns 'epoch:' and its own id if it is another.
do
    local compared, expected = KEYS[6], ARGV[6]
    if redis.call('GET', compared) ~= expected then
        local info = redis.call('INFO', 'replication')
        local id = string.match(info, 'master_replid:(%x+)')
        if id ~= expected then return 'epoch:' .. id end
        if not string.find(info, 'role:master', 1, true) then
            return redis.error_reply("READONLY this server is not the master any more")
        end
        redis.set_repl(redis.REPL_NONE)
        redis.call('SET', compared, expected, 'PX', 50)
        redis.set_repl(redis.REPL_ALL)
    end
end
