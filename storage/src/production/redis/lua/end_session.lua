-- Ends a session if it is this user's: the token may be another's by now.
-- KEYS: 1 session
-- ARGV: 1 user
-- Answers 1 if it was.
if redis.call('HGET', KEYS[1], 'user') ~= ARGV[1] then return 0 end
return redis.call('UNLINK', KEYS[1])
