-- Notes that a user signed on a day, whether or not the others of the day are there. A repeat changes nothing.
-- KEYS: 1 the day's bits
-- ARGV: 1 the user, 2 how long bits are kept, in ms
redis.call('SETBIT', KEYS[1], ARGV[1], 1)
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
