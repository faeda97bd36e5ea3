-- KEYS: what is waited for (a lock, or all slots of a semaphore), its waitlist, and when those in it are due. ARGV: waiter,
-- its stamp ('' for none yet), ms after a call for which only the called waiter tries, ms for which the list lives, the most
-- that stand in it, ms for which a call is known, the cap of its pauses in ms, the prefix of the channels, us for which it
-- has waited elsewhere, and of slots their channel.
-- Returns {what, ms, stamp (0: the list is full), how many are ahead, process that holds the lock, time and process of
-- the latest call, and of slots this one}: 1 it is free, and the waiter, which is the first, may try, 0 all are held, this
-- one for ms (-1: for good), 2 another waiter was called, and any other asks again in ms, 4 the same by this question, which
-- no other waiter watches, 3 many in front had gone, and the waiter asks again at once.
local list, due, waiter, stamp = KEYS[#KEYS - 1], KEYS[#KEYS], ARGV[1], tonumber(ARGV[2])
local cap, prefix, channel, lives = ARGV[7], ARGV[8], ARGV[10], {}
-- Without memory, or without a right that is needed, or if something else has the list's name, there is an
-- error before anything is written: no waiter has the name '-'.
for slot = 0, #KEYS - 3 do lives[slot] = redis.call('PTTL', KEYS[slot + 1]) end
-- Each slot is released by a client that knows of the list, so it does not matter which process holds it.
local holder = channel or redis.pcall('GET', KEYS[1])
if type(holder) == 'table' and string.sub(holder.err, 1, 9) ~= 'WRONGTYPE' then return holder end
-- A value of our own names no process: a hold that has ended, and keeps the key closed, is no other holder.
local names_process = not channel and type(holder) == 'string' and string.sub(holder, 1, 11) ~= 'quorumlock:'
local process = names_process and string.sub(holder, 1, 16) or ''
local time = redis.call('TIME')
local us = time[1] * 1000000 + time[2]
redis.call('ZCARD', list)
redis.call('ZSCORE', list, '-')
redis.call('ZRANK', list, '-')
local head = redis.call('ZRANGE', list, 0, 0)[1] or '>'
local is_known = redis.call('ZSCORE', due, head) or string.find(head, '^[>!]')
local now = math.floor(us / 1000)
local late = redis.call('ZRANGEBYSCORE', due, '-inf', '(' .. now)
local most = 1000 + math.min(120 * cap, 120000)
local early = redis.call('ZRANGEBYSCORE', due, '(' .. now + most, '+inf')
redis.call('ZADD', list, 'XX', 0, '-')
redis.call('ZREM', list, '-')
redis.call('PEXPIRE', list, ARGV[4])
local function remove(name)
  redis.call('ZREM', list, name)
  redis.call('ZREM', due, name)
end
-- Dead or stopped, or cut off: a waiter that has not asked when it was due is in front of none. One that lives comes
-- back with its stamp.
for _, gone in ipairs(late) do remove(gone) end
-- Notes when a waiter is due that stands behind so many: its longest two pauses are over by then.
local function expect(name, ahead)
  local pauses = math.min(math.max(16, ahead / 2) * cap, most - 1000)
  redis.call('ZADD', due, math.floor(now + 1000 + pauses), name)
  redis.call('PEXPIRE', due, ARGV[4])
end
-- This clock was set back, in which all keep their places.
for _, name in ipairs(early) do
  redis.call('ZREM', due, name)
  local ahead = redis.call('ZRANK', list, name)
  if ahead then expect(name, ahead) end
end
-- An older version notes nothing, nor does another client that has put something there.
if not is_known then
  for place, name in ipairs(redis.call('ZRANGE', list, 0, 63)) do
    if not string.find(name, '^[>!]') and not redis.call('ZSCORE', due, name) then expect(name, place - 1) end
  end
end
-- What is no waiter is behind all stamps, from 4e15 on: '>' and the process that was called last, or a slot for which a
-- waiter was called then. Older versions have '!' there, too.
local calls, called, called_at = {}, nil, nil
local new, latest = us, redis.call('ZRANGE', list, -#KEYS, -1, 'WITHSCORES')
for place = 1, #latest, 2 do
  local name, at = latest[place], latest[place + 1]
  local sign = string.sub(name, 1, 1)
  if sign == '>' then
    called, called_at = name, at
    calls[channel and string.sub(name, 2) or '0'] = at
  elseif tonumber(at) < 4e15 then
    -- A newcomer is behind all that wait, also if the clock has been set back.
    new = math.max(us, at + 1)
  end
end
-- One that has waited elsewhere stands where it would stand if it had waited here.
new = new - ARGV[9]
-- Returns for how many ms a mark of then still counts.
local function counts(at, ms)
  local since = at and (4e15 + us - at) / 1000
  return since and since >= 0 and math.max(0, math.ceil(ms - since)) or 0
end
local call = counts(called_at, ARGV[6]) > 0 and called_at .. ' ' .. string.sub(called, 2) or ''
stamp = stamp or tonumber(redis.call('ZSCORE', list, waiter) or nil)
local size = redis.call('ZCARD', list)
if not stamp and size < tonumber(ARGV[5]) then stamp = new end
if stamp then
  redis.call('ZADD', list, string.format('%.0f', stamp), waiter)
  redis.call('PEXPIRE', list, ARGV[4])
end
-- Notes who was called: a slot has its own mark, and a lock that of the process.
local function note(slot, name)
  local mark = '>' .. (channel and slot or string.sub(name, 1, 16))
  if called and called ~= mark and not channel then redis.call('ZREM', list, called) end
  redis.call('ZADD', list, string.format('%.0f', 4e15 + us), mark)
  redis.call('PEXPIRE', list, ARGV[4])
end
-- A process has one waiter at a time: if it was called last, this is the one.
local is_called = not channel and called == '>' .. string.sub(waiter, 1, 16)
-- The slot that is free, or will be first.
local what, nearest, left, gone, has_called = 0, 0, -1, 0, false
for slot = 0, #KEYS - 3 do
  local life, is_free = lives[slot], lives[slot] == -2
  if is_free then life = is_called and 0 or counts(calls[tostring(slot)], ARGV[3]) end
  -- Only the first goes: any other calls it, and takes out those that no call reaches. Where calls are denied, any goes.
  while is_free and life == 0 and gone < 64 do
    local first = redis.call('ZRANGE', list, 0, 0)[1]
    if not first or first == waiter or string.find(first, '^[>!]') then break end
    local freed = channel and 'slot ' .. first .. ' ' .. slot .. ' ' .. channel or 'free ' .. first .. ' ' .. KEYS[1]
    local heard = redis.pcall('PUBLISH', prefix .. '@' .. string.sub(first, 1, 16), freed)
    if type(heard) == 'table' then break end
    remove(first)
    if heard > 0 then
      life, has_called = tonumber(ARGV[3]), true
      note(slot, first)
    else
      gone = gone + 1
    end
  end
  if is_free and life == 0 and gone < 64 then
    remove(waiter)
    -- It tries alone for a while, also if no other waits yet: one that asks next is behind it.
    local is_new = redis.call('ZCARD', list) == 0
    note(slot, waiter)
    if is_new then redis.call('PEXPIRE', list, ARGV[3]) end
    return {1, 0, string.format('%.0f', stamp or new), 0, '', '', channel and slot or nil}
  end
  if life >= 0 and (left < 0 or life < left) then
    what, nearest, left = is_free and 2 or 0, slot, life
  end
end
if has_called then what = 4 end
if gone == 64 then what = 3 end
local ahead = redis.call('ZRANK', list, waiter) or size
if stamp then expect(waiter, ahead) end
return {what, left, string.format('%.0f', stamp or 0), ahead, process, call, channel and nearest or nil}
