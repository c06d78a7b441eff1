-- Returns the number of shops.
-- KEYS: after those of known_server.lua: 3 locations
return redis.call('HLEN', KEYS[3])
