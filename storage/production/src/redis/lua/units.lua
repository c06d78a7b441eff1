-- Returns a sale's units and the number of taken units, or nothing for an unknown sale.
-- KEYS: 1 sale
local sale = redis.call('HMGET', KEYS[1], 'units', 'taken')
if not sale[2] then return false end
return sale
