-- Takes down visits of one thing on one day.
-- KEYS: 1 its visitors, 2 its views
-- ARGV: 1 how many views are new, 2 how long the day is kept, in ms; then visitors
redis.call('PFADD', KEYS[1], unpack(ARGV, 3))
redis.call('INCRBY', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1
