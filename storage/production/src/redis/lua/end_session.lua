-- Ends a session if the token still belongs to this user.
-- KEYS: 1 session
-- ARGV: 1 user
-- Returns 1 if the session was ended.
if redis.call('HGET', KEYS[1], 'user') ~= ARGV[1] then return 0 end
return redis.call('UNLINK', KEYS[1])
