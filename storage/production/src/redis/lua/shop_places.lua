-- Returns the location entries of shops; nothing for a shop without one.
-- KEYS: after those of known_server.lua: 3 locations
-- ARGV: shops, at most some thousand
return redis.call('HMGET', KEYS[3], unpack(ARGV))
