-- Returns a sale's units and how many are taken, or nothing.
-- KEYS: 1 sale
local sale = redis.call('HMGET', KEYS[1], 'units', 'taken')
if not sale[2] then return false end
return sale
