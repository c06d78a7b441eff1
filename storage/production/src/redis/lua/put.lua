-- Sets the terms of a known sale, unless a later holder of the lock has put the sale. For an unknown sale,
-- the first caller becomes the loader and the others wait.
-- KEYS: 1 sale, 2 loader, 3 to 5 the load so far: buyers, further units, released orders, 6 greatest fencing
-- token of the partition's forgotten sales
-- ARGV: 1 begin, 2 end, 3 paused, 4 units, 5 waiting, 6 units per user, 7 fencing token, 8 name of this
-- loader, 9 timeout of a loader in ms
-- Returns {'put', units, taken}, {'load'}, {'busy'} or {'stale', greatest token seen}.
local is_known = redis.call('EXISTS', KEYS[1]) == 1
local seen
if is_known then seen = redis.call('HGET', KEYS[1], 'token') else seen = redis.call('GET', KEYS[6]) end
-- A sale put by an older version has no token.
if seen and tonumber(ARGV[7]) < tonumber(seen) then return {'stale', seen} end
if is_known then
    local taken = redis.call('HGET', KEYS[1], 'taken')
    local units = ARGV[4]
    if units ~= '' and tonumber(units) < tonumber(taken) then units = taken end
    redis.call(
        'HSET', KEYS[1], 'begin', ARGV[1], 'end', ARGV[2], 'paused', ARGV[3], 'units', units, 'waiting', ARGV[5],
        'per_user', ARGV[6], 'token', ARGV[7]
    )
    return {'put', units, taken}
end
if not redis.call('SET', KEYS[2], ARGV[8], 'NX', 'PX', ARGV[9]) then
    -- The name may come from this loader's first attempt, whose reply was lost.
    if redis.call('GET', KEYS[2]) ~= ARGV[8] then return {'busy'} end
end
redis.call('UNLINK', KEYS[3], KEYS[4], KEYS[5])
return {'load'}
