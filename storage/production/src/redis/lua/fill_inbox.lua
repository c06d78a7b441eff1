-- Ends the fill of an inbox, unless another fill has begun or the inbox was dropped.
-- KEYS: 1 inbox, 2 state
-- ARGV: 1 number of the fill, 2 end of validity, 3 floor or '', 4 capacity in notes, 5 how long Redis keeps
-- the inbox, in ms; then a time and a note for each entry
-- Returns 1, or 0 if the fill is void.
if redis.call('HGET', KEYS[2], 'filling') ~= ARGV[1] then return 0 end
for first = 6, #ARGV, 1000 do
    redis.call('ZADD', KEYS[1], unpack(ARGV, first, math.min(first + 999, #ARGV)))
end
local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
redis.call('HDEL', KEYS[2], 'filling')
redis.call('HSET', KEYS[2], 'until', ARGV[2], 'server', id)
if ARGV[3] ~= '' then raise(KEYS[2], ARGV[3]) end
trim(KEYS[1], KEYS[2], ARGV[4])
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[5]) end
return 1
