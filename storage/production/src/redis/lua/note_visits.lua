-- Adds visits of a shop, or of the mall, on one day.
-- KEYS: 1 visitors, 2 views
-- ARGV: 1 number of new views, 2 how long Redis keeps the day, in ms; then the visitors
redis.call('PFADD', KEYS[1], unpack(ARGV, 3))
redis.call('INCRBY', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1
