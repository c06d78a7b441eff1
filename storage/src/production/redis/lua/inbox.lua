-- The beginning of scripts about an inbox: a sorted set of notes by when they were written, and a hash of its state: `until`
-- when it is live, `server` that it was filled on, `floor` above which it has all, `filling` by whom.
-- A server that has come in another's place may lack what was pushed last: its inboxes are not live.
local function is_live(state, now)
    local known = redis.call('HMGET', state, 'until', 'server')
    if not known[1] or tonumber(known[1]) <= tonumber(now) then return false end
    return known[2] == string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
end

-- Raises the floor to an instant, unless it is there. A score is handed on as Redis wrote it: Lua would round it.
local function raise(state, floor)
    local before = redis.call('HGET', state, 'floor')
    if not before or tonumber(before) < tonumber(floor) then redis.call('HSET', state, 'floor', floor) end
end

-- Removes the oldest beyond what it may hold.
local function trim(inbox, state, holds)
    local over = redis.call('ZCARD', inbox) - tonumber(holds)
    if over <= 0 then return end
    raise(state, redis.call('ZRANGE', inbox, over - 1, over - 1, 'WITHSCORES')[2])
    redis.call('ZREMRANGEBYRANK', inbox, 0, over - 1)
end
