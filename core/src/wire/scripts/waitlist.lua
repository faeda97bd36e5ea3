-- KEYS: what is waited for, or was released (a lock, or slots of a semaphore), its waitlist, and when those in it are due.
-- ARGV: the verb, the prefix of the channels, and of slots the channel of their semaphore ('' for a lock). Then,
--
-- of 'wait': waiter, its stamp ('' for none yet), ms after a call for which only the called waiter tries, ms for which the
-- list lives, the most that stand in it, ms for which a call is known, the cap of its pauses in ms, and us for which it has
-- waited elsewhere. Returns {what, ms, stamp (0: the list is full), how many are ahead, process that holds the lock, time
-- and process of the latest call, and of slots this one}: 1 it is free, and the waiter, which is the first, may try, 0 all
-- are held, this one for ms (-1: for good), 2 another waiter was called, and any other asks again in ms, 4 the same by this
-- question, which no other waiter watches, 3 many in front had gone, and the waiter asks again at once;
--
-- of 'call': ms for which a list lives in which no waiter stands, '1' if a waiter is called whatever the key says here,
-- since a quorum without this master had been won, and the number of the slot. Returns {waiters called (-1: too many had
-- gone, and another call goes on), clients that listen on the channel, waiters left}.
local prefix, channel, waits = ARGV[2], ARGV[3] ~= '' and ARGV[3], ARGV[1] == 'wait'
local list, due, waiter, lives = KEYS[#KEYS - 1], KEYS[#KEYS], waits and ARGV[4], {}
-- Without memory, or without a right that is needed, or if something else has the list's name, there is an
-- error before anything is written or sent: no waiter has the name '-'.
for slot = 0, #KEYS - 3 do lives[slot] = redis.call('PTTL', KEYS[slot + 1]) end
local time = redis.call('TIME')
local us = time[1] * 1000000 + time[2]
local now = math.floor(us / 1000)
redis.call('ZCARD', list)
local head = redis.call('ZRANGE', list, 0, 0)[1] or '>'
local late = redis.call('ZRANGEBYSCORE', due, '-inf', '(' .. now)
local most = waits and 1000 + math.min(120 * ARGV[10], 120000)
local holder, is_known, early
if waits then
  -- Each slot is released by a client that knows of the list, so it does not matter which process holds it.
  holder = channel or redis.pcall('GET', KEYS[1])
  if type(holder) == 'table' and string.sub(holder.err, 1, 9) ~= 'WRONGTYPE' then return holder end
  redis.call('ZSCORE', list, '-')
  redis.call('ZRANK', list, '-')
  is_known = redis.call('ZSCORE', due, head) or string.find(head, '^[>!]')
  early = redis.call('ZRANGEBYSCORE', due, '(' .. now + most, '+inf')
  -- The first that writes: a server looks at its memory before that one alone.
  redis.call('ZADD', list, 'XX', 0, '-')
end
redis.call('ZREM', list, '-')
if waits then redis.call('PEXPIRE', list, ARGV[7]) end
local function remove(name)
  redis.call('ZREM', list, name)
  redis.call('ZREM', due, name)
end
-- Dead or stopped, or cut off: a waiter that has not asked when it was due is in front of none. One that lives comes
-- back with its stamp.
for _, gone in ipairs(late) do remove(gone) end
-- What is no waiter is behind all stamps, from 4e15 on: '>' and the process that was called last, or a slot for which a
-- waiter was called then. Older versions have '!' there, too.
local function is_mark(name) return string.find(name, '^[>!]') ~= nil end
-- Writes to the mailbox of the waiter at a place, and returns that waiter. Takes out those whose mailbox no client reads,
-- at most 64. Where messages are denied, takes out none, and returns the error.
local gone = 0
local function write(what, about, place)
  while gone < 64 do
    local name = redis.call('ZRANGE', list, place, place)[1]
    if not name or name == waiter or is_mark(name) then return nil end
    local heard = redis.pcall('PUBLISH', prefix .. '@' .. string.sub(name, 1, 16), what .. ' ' .. name .. ' ' .. about)
    if type(heard) == 'table' then return nil, heard end
    if heard > 0 then return name end
    remove(name)
    gone = gone + 1
  end
end
-- Notes who was called: a slot has its own mark, and a lock that of the process.
local function note(slot, name)
  local mark = '>' .. (channel and slot or string.sub(name, 1, 16))
  redis.pcall('ZADD', list, string.format('%.0f', 4e15 + us), mark)
  for _, old in ipairs(channel and {} or redis.call('ZRANGE', list, -3, -1)) do
    if string.sub(old, 1, 1) == '>' and old ~= mark then redis.call('ZREM', list, old) end
  end
end
-- Calls the first waiter for a slot, or for the lock.
local function call(slot)
  local what, about = 'free', KEYS[1]
  if channel then what, about = 'slot', slot .. ' ' .. channel end
  local first, denied = write(what, about, 0)
  if first then
    -- Before the list may end: it has a life.
    note(slot, first)
    remove(first)
  end
  return first, denied
end

if not waits then
  local slot, called = ARGV[6], 0
  if lives[0] == -2 or ARGV[5] == '1' then
    local first, denied = call(slot)
    if denied then return denied end
    called = first and 1 or gone == 64 and -1 or 0
  end
  local marks = {}
  for _, name in ipairs(redis.call('ZRANGE', list, channel and -64 or -2, -1)) do
    if is_mark(name) then marks[#marks + 1] = name end
  end
  -- The last watches, in case the call is in vain: waiters that stop together stand together. It watches all calls of a
  -- moment, as long as it stands in the list.
  if called == 1 then
    local watches = nil
    for _, name in ipairs(redis.call('ZRANGEBYSCORE', due, now, now + 20)) do
      if string.sub(name, 1, 1) == '*' then watches = string.sub(name, 2) end
    end
    if not watches or type(redis.pcall('ZSCORE', list, watches)) ~= 'string' then
      gone = 0
      local last = write('watch', channel or KEYS[1], -1 - #marks)
      if last and redis.call('ZCARD', due) > 0 then redis.pcall('ZADD', due, now + 20, '*' .. last) end
    end
  end
  local says = channel and slot or ''
  if called == 1 then says = channel and 'called ' .. slot or 'called' end
  local heard = redis.pcall('PUBLISH', prefix .. (channel or KEYS[1]), says)
  local waiting = redis.call('ZCARD', list) - #marks
  -- For a moment, a call counts; a list that has led to none ends.
  if waiting == 0 then
    redis.pcall('PEXPIRE', due, ARGV[4])
    if called == 1 then
      redis.pcall('PEXPIRE', list, ARGV[4])
    elseif #marks > 0 then
      redis.call('ZREM', list, unpack(marks))
    end
  end
  return {called, type(heard) == 'table' and 0 or heard, waiting}
end

-- A value of our own names no process: a hold that has ended, and keeps the key closed, is no other holder.
local names_process = not channel and type(holder) == 'string' and string.sub(holder, 1, 11) ~= 'quorumlock:'
local process = names_process and string.sub(holder, 1, 16) or ''
local stamp, quiet, cap = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[10]
-- Notes when a waiter is due that stands behind so many: its longest two pauses are over by then.
local function expect(name, ahead)
  local pauses = math.min(math.max(16, ahead / 2) * cap, most - 1000)
  redis.call('ZADD', due, math.floor(now + 1000 + pauses), name)
  redis.call('PEXPIRE', due, ARGV[7])
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
    if not is_mark(name) and not redis.call('ZSCORE', due, name) then expect(name, place - 1) end
  end
end
local calls, called, called_at = {}, nil, nil
local new, latest = us, redis.call('ZRANGE', list, -#KEYS, -1, 'WITHSCORES')
for place = 1, #latest, 2 do
  local name, at = latest[place], latest[place + 1]
  if string.sub(name, 1, 1) == '>' then
    called, called_at = name, at
    calls[channel and string.sub(name, 2) or '0'] = at
  elseif tonumber(at) < 4e15 then
    -- A newcomer is behind all that wait, also if the clock has been set back.
    new = math.max(us, at + 1)
  end
end
-- One that has waited elsewhere stands where it would stand if it had waited here.
new = new - ARGV[11]
-- Returns for how many ms a mark of then still counts.
local function counts(at, ms)
  local since = at and (4e15 + us - at) / 1000
  return since and since >= 0 and math.max(0, math.ceil(ms - since)) or 0
end
local latest_call = counts(called_at, ARGV[9]) > 0 and called_at .. ' ' .. string.sub(called, 2) or ''
stamp = stamp or tonumber(redis.call('ZSCORE', list, waiter) or nil)
local size = redis.call('ZCARD', list)
if not stamp and size < tonumber(ARGV[8]) then stamp = new end
if stamp then
  redis.call('ZADD', list, string.format('%.0f', stamp), waiter)
  redis.call('PEXPIRE', list, ARGV[7])
end
-- A process has one waiter at a time: if it was called last, this is the one.
local is_called = not channel and called == '>' .. string.sub(waiter, 1, 16)
-- The slot that is free, or will be first.
local what, nearest, left, has_called = 0, 0, -1, false
for slot = 0, #KEYS - 3 do
  local life, is_free = lives[slot], lives[slot] == -2
  if is_free then life = is_called and 0 or counts(calls[tostring(slot)], quiet) end
  -- Only the first goes: any other calls it, and takes out those that no call reaches. Where calls are denied, any goes.
  if is_free and life == 0 and call(slot) then
    life, has_called = quiet, true
  end
  if is_free and life == 0 and gone < 64 then
    remove(waiter)
    -- It tries alone for a while, also if no other waits yet: one that asks next is behind it.
    local is_new = redis.call('ZCARD', list) == 0
    note(slot, waiter)
    if is_new then redis.call('PEXPIRE', list, quiet) end
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
return {what, left, string.format('%.0f', stamp or 0), ahead, process, latest_call, channel and nearest or nil}
