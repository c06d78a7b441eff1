-- Ends a filling, unless another has begun or the inbox was dropped.
-- KEYS: 1 the inbox, 2 its state
-- ARGV: 1 the number of the filling, 2 until when it is live, 3 the floor or '', 4 how many it may hold, 5 how long it is kept,
-- in ms; then instants and notes in turn
-- Answers 1, or 0 if it was made void.
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
