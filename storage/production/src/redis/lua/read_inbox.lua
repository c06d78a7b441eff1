-- Reads an inbox from an instant on downward.
-- KEYS: 1 inbox, 2 state
-- ARGV: 1 instant to start at in ms, 2 maximum number of notes, 3 now in ms
-- Returns 1 if the inbox is live, otherwise 0; the floor or ''; and notes and times, alternating.
if not is_live(KEYS[2], ARGV[3]) then return {0, '', {}} end
local floor = redis.call('HGET', KEYS[2], 'floor')
local low = floor and '(' .. floor or '-inf'
local notes = redis.call('ZREVRANGEBYSCORE', KEYS[1], ARGV[1], low, 'WITHSCORES', 'LIMIT', 0, ARGV[2])
return {1, floor or '', notes}
