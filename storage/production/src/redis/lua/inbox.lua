-- Prefix of scripts about inboxes. An inbox is a sorted set of notes by time of writing, with a hash as its
-- state: `until`, the end of validity; `server`, the replication id at the fill; `floor`, the time above
-- which the inbox is complete; `filling`, the number of the fill in progress. A promoted replica may lack the
-- last pushed notes, so inboxes filled on another server are not live.
local function is_live(state, now)
    local known = redis.call('HMGET', state, 'until', 'server')
    if not known[1] or tonumber(known[1]) <= tonumber(now) then return false end
    return known[2] == string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
end

-- Raises the floor to an instant, unless the floor is as high already. The score is stored as Redis wrote it,
-- because Lua would round it.
local function raise(state, floor)
    local before = redis.call('HGET', state, 'floor')
    if not before or tonumber(before) < tonumber(floor) then redis.call('HSET', state, 'floor', floor) end
end

-- Removes the oldest notes beyond the capacity.
local function trim(inbox, state, holds)
    local over = redis.call('ZCARD', inbox) - tonumber(holds)
    if over <= 0 then return end
    raise(state, redis.call('ZRANGE', inbox, over - 1, over - 1, 'WITHSCORES')[2])
    redis.call('ZREMRANGEBYRANK', inbox, 0, over - 1)
end
