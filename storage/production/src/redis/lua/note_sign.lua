-- Notes a user's sign-in in a day's bitmap, whether or not the day is loaded. A repeat has no effect.
-- KEYS: 1 bitmap
-- ARGV: 1 user, 2 how long Redis keeps bitmaps, in ms
redis.call('SETBIT', KEYS[1], ARGV[1], 1)
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
