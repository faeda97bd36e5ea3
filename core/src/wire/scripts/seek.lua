-- KEYS: the slots of a semaphore, the waitlist of those that want any of them, and when these are due. ARGV: waiter, its
-- stamp ('' for none yet), ms after a call for a slot in which only the called waiter tries that slot, ms for which the
-- list lives, the most that stand in it, ms for which a call is known, the cap of its pauses in ms. Returns {what, ms,
-- stamp (0: the list is full), how many are ahead, '', time of the latest call, slot}: 1 this slot is free, and the
-- waiter may try, 0 all are held, this one for ms (-1: for good), 2 a waiter was called for this one, and any other asks
-- again in ms.
local list, due, waiter, stamp = KEYS[#KEYS - 1], KEYS[#KEYS], ARGV[1], tonumber(ARGV[2])
-- Without memory, or without a right that is needed, or if something else has the list's name, there is an
-- error before anything is written: no waiter has the name '-'.
local lives = {}
for slot = 0, #KEYS - 3 do lives[slot] = redis.call('PTTL', KEYS[slot + 1]) end
local ends, time = redis.call('ZRANGE', list, 1 - #KEYS, -1, 'WITHSCORES'), redis.call('TIME')
local us = time[1] * 1000000 + time[2]
redis.call('ZCARD', list)
redis.call('ZSCORE', list, '-')
redis.call('ZRANK', list, '-')
local head = redis.call('ZRANGE', list, 0, 0)[1] or '>'
local is_known = redis.call('ZSCORE', due, head) or string.find(head, '^>')
local now = math.floor(us / 1000)
local late = redis.call('ZRANGEBYSCORE', due, '-inf', '(' .. now)
local most = 1000 + math.min(120 * ARGV[7], 120000)
local early = redis.call('ZRANGEBYSCORE', due, '(' .. now + most, '+inf')
redis.call('ZADD', list, 'XX', 0, '-')
redis.call('ZREM', list, '-')
redis.call('PEXPIRE', list, ARGV[4])
-- Those that have not asked when they were due: see wait.lua.
for _, gone in ipairs(late) do
  redis.call('ZREM', list, gone)
  redis.call('ZREM', due, gone)
end
local function expect(name, ahead)
  local pauses = math.min(math.max(16, ahead / 2) * ARGV[7], most - 1000)
  redis.call('ZADD', due, math.floor(now + 1000 + pauses), name)
  redis.call('PEXPIRE', due, ARGV[4])
end
for _, name in ipairs(early) do
  redis.call('ZREM', due, name)
  local ahead = redis.call('ZRANK', list, name)
  if ahead then expect(name, ahead) end
end
if not is_known then
  for place, name in ipairs(redis.call('ZRANGE', list, 0, 63)) do
    if not string.find(name, '^>') and not redis.call('ZSCORE', due, name) then expect(name, place - 1) end
  end
end
-- What is no waiter is behind all stamps, from 4e15 on: '>' and a slot, for which a waiter was called then.
local calls, latest, new = {}, 0, us
for place = 1, #ends, 2 do
  local slot, at = tonumber(string.match(ends[place], '^>(%d+)$')), tonumber(ends[place + 1])
  if slot then
    calls[slot] = at
    latest = math.max(latest, at)
  elseif at < 4e15 then
    -- A newcomer is behind all that wait, also if the clock has been set back.
    new = math.max(us, at + 1)
  end
end
-- Returns for how many ms a call of then still counts.
local function counts(at, ms)
  local since = at and (4e15 + us - at) / 1000
  return since and since >= 0 and math.max(0, math.ceil(ms - since)) or 0
end
local call = counts(latest, ARGV[6]) > 0 and string.format('%.0f', latest) or ''
stamp = stamp or tonumber(redis.call('ZSCORE', list, waiter) or nil)
-- The slot that is free, or will be first.
local what, first, left = 0, 0, -1
for slot = 0, #KEYS - 3 do
  local life, is_free = lives[slot], lives[slot] == -2
  if is_free then
    life = counts(calls[slot], ARGV[3])
    if life == 0 then
      redis.call('ZREM', list, waiter)
      redis.call('ZREM', due, waiter)
      -- This one tries it alone for a while, also if no other waits yet: waiters that ask together would all be sent
      -- to the same slot, again and again.
      local is_new = redis.call('ZCARD', list) == 0
      redis.call('ZADD', list, string.format('%.0f', 4e15 + us), '>' .. slot)
      if is_new then redis.call('PEXPIRE', list, ARGV[3]) end
      return {1, 0, string.format('%.0f', stamp or new), 0, '', call, slot}
    end
  end
  if life >= 0 and (left < 0 or life < left) then
    what, first, left = is_free and 2 or 0, slot, life
  end
end
local size = redis.call('ZCARD', list)
if not stamp and size < tonumber(ARGV[5]) then stamp = new end
if stamp then
  redis.call('ZADD', list, string.format('%.0f', stamp), waiter)
  redis.call('PEXPIRE', list, ARGV[4])
end
local ahead = redis.call('ZRANK', list, waiter) or size
if stamp then expect(waiter, ahead) end
return {what, left, string.format('%.0f', stamp or 0), ahead, '', call, first}
