-- Sets a known sale's terms. An unknown one is to be loaded: the first who asks becomes its loader, and the others wait.
-- KEYS: 1 sale, 2 who loads it, 3 to 5 what has been loaded so far: buyers, further units, released orders
-- ARGV: 1 begin, 2 end, 3 paused, 4 units, 5 this loader's name, 6 how long a loader may be silent, in ms
-- Answers {'put', units, taken}, {'load'} or {'busy'}.
if redis.call('EXISTS', KEYS[1]) == 1 then
    local taken = redis.call('HGET', KEYS[1], 'taken')
    local units = ARGV[4]
    if units ~= '' and tonumber(units) < tonumber(taken) then units = taken end
    redis.call('HSET', KEYS[1], 'begin', ARGV[1], 'end', ARGV[2], 'paused', ARGV[3], 'units', units)
    return {'put', units, taken}
end
if not redis.call('SET', KEYS[2], ARGV[5], 'NX', 'PX', ARGV[6]) then
    -- Its own first try, perhaps, the answer to which was lost.
    if redis.call('GET', KEYS[2]) ~= ARGV[5] then return {'busy'} end
end
redis.call('UNLINK', KEYS[3], KEYS[4], KEYS[5])
return {'load'}
