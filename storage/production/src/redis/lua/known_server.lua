-- Prefix of scripts that need a server whose data was restored since its promotion or start.
-- KEYS: 1 replication id of the last restored server, 2 record of a recent comparison; then the script's own
-- Returns 'stranger:' and the server's own id if the ids differ.
if redis.call('EXISTS', KEYS[2]) == 0 then
    local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
    if redis.call('GET', KEYS[1]) ~= id then return 'stranger:' .. id end
    -- Not replicated: a promoted replica compares at once.
    redis.set_repl(redis.REPL_NONE)
    redis.call('SET', KEYS[2], '', 'PX', 50)
    redis.set_repl(redis.REPL_ALL)
end
