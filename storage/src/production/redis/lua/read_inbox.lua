-- Reads an inbox from an instant on down.
-- KEYS: 1 the inbox, 2 its state
-- ARGV: 1 from when, 2 how many at the most, 3 now
-- Answers whether it is live, its floor or '', and notes with their instants in turn.
if not is_live(KEYS[2], ARGV[3]) then return {0, '', {}} end
local floor = redis.call('HGET', KEYS[2], 'floor')
local low = floor and '(' .. floor or '-inf'
local notes = redis.call('ZREVRANGEBYSCORE', KEYS[1], ARGV[1], low, 'WITHSCORES', 'LIMIT', 0, ARGV[2])
return {1, floor or '', notes}
