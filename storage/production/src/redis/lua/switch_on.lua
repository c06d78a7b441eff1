-- Opens a sale after all holders are loaded.
-- KEYS: 1 sale, 2 buyers, 3 further units, 4 loader, 5 to 7 the load: buyers, further units, released orders,
-- 8 sales of the partition
-- ARGV: 1 name of this loader, 2 begin, 3 end, 4 paused, 5 units, 6 waiting, 7 units per user, 8
-- fencing token, 9 voucher
-- Returns {units, taken}, or nothing if another loader has taken over.
if redis.call('GET', KEYS[4]) ~= ARGV[1] then return false end
for from, to in pairs({[5] = 2, [6] = 3}) do
    redis.call('UNLINK', KEYS[to])
    if redis.call('EXISTS', KEYS[from]) == 1 then
        redis.call('RENAME', KEYS[from], KEYS[to])
        redis.call('PERSIST', KEYS[to])
    end
end
local taken = redis.call('HLEN', KEYS[2]) + redis.call('ZCARD', KEYS[3])
local units = ARGV[5]
if units ~= '' and tonumber(units) < taken then units = tostring(taken) end
redis.call(
    'HSET', KEYS[1], 'begin', ARGV[2], 'end', ARGV[3], 'paused', ARGV[4], 'units', units, 'taken', taken,
    'waiting', ARGV[6], 'per_user', ARGV[7], 'token', ARGV[8]
)
redis.call('SADD', KEYS[8], ARGV[9])
redis.call('UNLINK', KEYS[4], KEYS[7])
return {units, tostring(taken)}
