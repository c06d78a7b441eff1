-- The beginning of scripts that only a server may run whose holdings were put right since it became the master.
-- KEYS: 1 the id of the server that was put right last, 2 that it was compared a moment ago; then the script's own
-- Answers 'stranger:' and its id if it is another.
if redis.call('EXISTS', KEYS[2]) == 0 then
    local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
    if redis.call('GET', KEYS[1]) ~= id then return 'stranger:' .. id end
    -- For this server alone: a replica that takes its place looks itself.
    redis.set_repl(redis.REPL_NONE)
    redis.call('SET', KEYS[2], '', 'PX', 50)
    redis.set_repl(redis.REPL_ALL)
end
