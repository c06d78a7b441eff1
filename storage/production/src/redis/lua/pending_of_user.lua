-- Returns the pending claims of a user.
-- KEYS: 1 pending claims by user
-- ARGV: 1 user
-- A semicolon is the character right after the colon.
return redis.call('ZRANGEBYLEX', KEYS[1], '[' .. ARGV[1] .. ':', '(' .. ARGV[1] .. ';')
