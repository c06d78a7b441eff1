-- What a server holds is right now. Nothing changes if another has taken its place meanwhile.
-- KEYS: 1 the id of the server that was put right last, 2 that it was compared a moment ago
-- ARGV: 1 its id
-- Answers 1 if it still is the one.
local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
if id ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], id)
return 1
