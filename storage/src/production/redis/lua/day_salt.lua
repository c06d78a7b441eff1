-- The salt of a day: what was offered first.
-- KEYS: 1 the salt
-- ARGV: 1 what is offered, 2 how long it is kept, in ms
redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
return redis.call('GET', KEYS[1])
