-- Prefix of scripts that put, move or remove shops.
-- Appends shops, separated by blanks, to the stream of changes, and removes entries older than a minute.
local function announce(changes, shops)
    local oldest = (redis.call('TIME')[1] - 60) * 1000
    redis.call('XADD', changes, 'MINID', '~', string.format('%.0f', oldest), '*', 's', shops)
end
