-- Claims units of a sale for users, one after another. An accepted claim takes a unit, records the buyer,
-- spends the pass and appends the claim to the order log; the script is one atomic step.
-- KEYS: 1 sale, 2 buyers, 3 further units by user, 4 the partition's log, 5 pending claims by order,
-- 6 pending claims by user, 7 the partition's epoch of passes, from 8 on a mark of the spent pass per claim
-- with a pass
-- ARGV: 1 voucher, 2 arguments per claim: 4, or 7 if a claim has a pass; for each claim 1 order, 2 user,
-- 3 time of the claim in ms, or '' only to look up the user's order, 4 units that the user says to hold, and
-- for a claim with a pass 5 epoch of the pass, else '', 6 ms left until the pass expires, 7 ms for which the
-- mark is kept
-- Returns for each claim 'accepted', 'sold out', 'ended', 'not open', 'paused', 'unknown', 'pass refused',
-- 'none' (a look-up without a result), or the number of the newest order of a user who holds enough units
-- already.
local voucher, width = ARGV[1], tonumber(ARGV[2])
local users, outcomes = {}, {}
for first = 3, #ARGV, width do users[#users + 1] = ARGV[first + 1] end
local sale = redis.call('HMGET', KEYS[1], 'begin', 'end', 'paused', 'units', 'taken', 'waiting', 'per_user')
if not sale[1] then
    for number = 1, #users do outcomes[number] = 'unknown' end
    return outcomes
end
local opens, ends = tonumber(sale[1]), tonumber(sale[2])
-- Without units, the sale has no limit. A sale of an older mall has no number of units per user.
local units, taken, per_user = tonumber(sale[4]), tonumber(sale[5]), tonumber(sale[7] or 1)
local buyers = redis.call('HMGET', KEYS[2], unpack(users))

-- Written at the end, together.
local first_units, further_units, pending, by_user = {}, {}, {}, {}
-- Orders by user as of the claims decided so far: the first, and further ones.
local first_orders, further_orders = {}, {}
local next_mark = 8

-- Order ids stay text: they are too large for Lua's numbers.
local function is_newer(order, other) return #order > #other or #order == #other and order > other end

local function orders_of(number, user)
    if first_orders[user] == nil then
        first_orders[user], further_orders[user] = buyers[number], {}
        if buyers[number] and per_user > 1 then
            local entries = redis.call('ZRANGEBYLEX', KEYS[3], '[' .. user .. ':', '(' .. user .. ';')
            for _, entry in ipairs(entries) do
                table.insert(further_orders[user], string.match(entry, ':(.*)$'))
            end
        end
    end
    return first_orders[user], further_orders[user]
end

-- Returns the outcome for a user who holds the claim's unit, or enough units.
local function held(number, order, user, holding)
    local newest, further = orders_of(number, user)
    if not newest then return nil end
    if newest == order then return 'accepted' end
    for _, other in ipairs(further) do
        if other == order then return 'accepted' end
        if is_newer(other, newest) then newest = other end
    end
    local holds = 1 + #further
    if holds > holding or holds >= per_user then return newest end
end

local function refusal(at)
    if at >= ends then return 'ended' end
    if at < opens then return 'not open' end
    if sale[3] == '1' then return 'paused' end
    -- While users wait, units are for the waiting list.
    if sale[6] == '1' then return 'sold out' end
    if units and taken >= units then return 'sold out' end
end

local function spends(mark, order, first)
    if tonumber(ARGV[first + 5]) <= 0 or redis.call('GET', KEYS[7]) ~= ARGV[first + 4] then return false end
    if redis.call('EXISTS', mark) == 1 then return false end
    redis.call('SET', mark, order, 'PX', ARGV[first + 6])
    return true
end

local function take(order, user, at)
    taken = taken + 1
    if first_orders[user] then
        table.insert(further_orders[user], order)
        table.insert(further_units, 0)
        table.insert(further_units, user .. ':' .. order)
    else
        first_orders[user] = order
        table.insert(first_units, user)
        table.insert(first_units, order)
    end
    redis.call('XADD', KEYS[4], '*', 'o', order, 'u', user, 'v', voucher, 't', at)
    table.insert(pending, order)
    table.insert(pending, user .. ':' .. voucher .. ':' .. at)
    table.insert(by_user, 0)
    table.insert(by_user, user .. ':' .. order .. ':' .. voucher .. ':' .. at)
    return 'accepted'
end

for number, user in ipairs(users) do
    local first = 3 + (number - 1) * width
    local order, at, mark = ARGV[first], ARGV[first + 2], nil
    if width == 7 and ARGV[first + 4] ~= '' then
        mark, next_mark = KEYS[next_mark], next_mark + 1
    end
    local outcome = held(number, order, user, tonumber(ARGV[first + 3]))
    if not outcome then
        if at == '' then
            outcome = 'none'
        else
            outcome = refusal(tonumber(at))
            if not outcome and mark and not spends(mark, order, first) then outcome = 'pass refused' end
        end
    end
    outcomes[number] = outcome or take(order, user, at)
end

if #pending > 0 then
    redis.call('HINCRBY', KEYS[1], 'taken', #pending / 2)
    if #first_units > 0 then redis.call('HSET', KEYS[2], unpack(first_units)) end
    if #further_units > 0 then redis.call('ZADD', KEYS[3], unpack(further_units)) end
    redis.call('HSET', KEYS[5], unpack(pending))
    redis.call('ZADD', KEYS[6], unpack(by_user))
end
return outcomes
