-- Puts a user into a waiting room, if asked to, admits who is due, and returns the user's state.
-- KEYS: 1 room, 2 users who wait by rank, 3 earlier users
-- ARGV: 1 user, 2 now, 3 begin, 4 users per second, 5 length of an admission, 6 '1' if users are admitted,
-- 7 fresh rank, '' without an entry, 8 shown rank or '', 9 grace after a loss, 10 how long Redis keeps the
-- room; instants and spans in ms
-- Returns the number of users who wait, and: nothing; or 'waiting', rank, users ahead; or 'admitted', end.
local user, now, rate = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[4])
local room = redis.call('HMGET', KEYS[1], 'created', 'credited', 'credit', 'closed')
local created, credited = tonumber(room[1] or now), tonumber(room[2] or now)
-- In thousandths of a user.
local credit, closed = tonumber(room[3] or 1000), tonumber(room[4] or 0)
local known = room[1]

local waits = redis.call('ZSCORE', KEYS[2], user)
local past = not waits and redis.call('HGET', KEYS[3], user)
local admitted = past and past ~= 'left' and now < tonumber(past)
if not waits and not admitted and ARGV[7] ~= '' then
    local rank = ARGV[7]
    if past then
        redis.call('HDEL', KEYS[3], user)
    elseif ARGV[8] ~= '' then
        rank = ARGV[8]
        closed = created + tonumber(ARGV[9])
    end
    redis.call('ZADD', KEYS[2], rank, user)
    known = true
end

if known then
    local is_closed = now < closed and closed - now <= tonumber(ARGV[9])
    if ARGV[6] == '1' and now >= tonumber(ARGV[3]) and not is_closed then
        local elapsed = math.max(now - math.max(credited, tonumber(ARGV[3])), 0)
        credit = math.min(credit + math.min(elapsed, 1000) * rate, 1000 * rate)
        local due = math.floor(credit / 1000)
        local popped = due > 0 and redis.call('ZPOPMIN', KEYS[2], due) or {}
        local count = #popped / 2
        if count > 0 then
            local till = string.format('%.0f', now + tonumber(ARGV[5]))
            -- A call takes some thousand arguments.
            for first = 1, #popped, 2000 do
                local pairs = {}
                for at = first, math.min(first + 1998, #popped), 2 do
                    pairs[#pairs + 1] = popped[at]
                    pairs[#pairs + 1] = till
                end
                redis.call('HSET', KEYS[3], unpack(pairs))
            end
            redis.call('HINCRBY', KEYS[1], 'admitted', count)
            credit = credit - 1000 * count
        end
    end
    local text = function(number) return string.format('%.0f', number) end
    redis.call('HSET', KEYS[1], 'created', text(created), 'credited', text(now), 'credit', text(credit), 'closed',
        text(closed))
    for key = 1, 3 do redis.call('PEXPIRE', KEYS[key], ARGV[10]) end
end

local waiting = redis.call('ZCARD', KEYS[2])
local rank = redis.call('ZSCORE', KEYS[2], user)
if rank then return {waiting, 'waiting', rank, redis.call('ZRANK', KEYS[2], user)} end
past = redis.call('HGET', KEYS[3], user)
if past and past ~= 'left' and now < tonumber(past) then return {waiting, 'admitted', past} end
return {waiting}
