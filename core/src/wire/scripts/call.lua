-- KEYS: what was released, its waitlist, and when those in it are due. ARGV: the prefix of the channels, ms for which a
-- list lives in which no waiter stands, '1' if a waiter is called whatever the key says here, since a quorum without
-- this master had been won, and of a slot its number, and the channel of its semaphore. Returns {waiters called (-1: too
-- many had gone, and another call goes on), clients that listen on the channel, waiters left}.
local lock, list, due, prefix, slot, called = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[4], 0
local channel, verb, freed, most = lock, 'free', lock, 2
if slot then
  -- Each slot has a call that was the latest for it.
  channel, verb, freed, most = ARGV[5], 'slot', slot .. ' ' .. ARGV[5], 64
end
-- Without one of these rights there is an error before any message.
local left, time = redis.call('PTTL', lock), redis.call('TIME')
redis.call('ZCARD', list)
redis.call('ZRANGE', list, 0, 0)
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local late = redis.call('ZRANGEBYSCORE', due, '-inf', '(' .. now)
redis.call('ZREM', list, '-')
-- Those that have not asked when they were due: see wait.lua.
for _, gone in ipairs(late) do
  redis.call('ZREM', list, gone)
  redis.call('ZREM', due, gone)
end
-- What is no waiter is behind all of them: see wait.lua.
local function is_mark(name)
  return string.find(name, '^[>!]') ~= nil
end
-- Writes to a waiter's mailbox, and returns the waiter, or how many that had gone it has taken out, or an error: a denied
-- right takes out no waiter.
local function write(what, freed, place)
  for gone = 0, 63 do
    local waiter = redis.call('ZRANGE', list, place, place)[1]
    if not waiter or is_mark(waiter) then return nil, gone end
    local mailbox = prefix .. '@' .. string.sub(waiter, 1, 16)
    local heard = redis.pcall('PUBLISH', mailbox, what .. ' ' .. waiter .. ' ' .. freed)
    if type(heard) == 'table' then return heard, gone end
    if heard > 0 then return waiter, gone end
    redis.call('ZREM', list, waiter)
    redis.call('ZREM', due, waiter)
  end
  return nil, 64
end
if left == -2 or ARGV[3] == '1' then
  local waiter, gone = write(verb, freed, 0)
  if type(waiter) == 'table' then return waiter end
  if waiter then
    called = 1
    -- Before the list may end: it has a life.
    local mark, old = '>' .. (slot or string.sub(waiter, 1, 16)), redis.call('ZRANGE', list, -2, -1)
    redis.pcall('ZADD', list, string.format('%.0f', 4e15 + time[1] * 1000000 + time[2]), mark)
    for _, name in ipairs(old) do
      if not slot and string.sub(name, 1, 1) == '>' and name ~= mark then redis.call('ZREM', list, name) end
    end
    redis.call('ZREM', list, waiter)
    redis.call('ZREM', due, waiter)
  elseif gone == 64 then
    called = -1
  end
end
local marks = {}
for _, name in ipairs(redis.call('ZRANGE', list, -most, -1)) do
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
    local last = write('watch', channel, -1 - #marks)
    if type(last) == 'string' and redis.call('ZCARD', due) > 0 then redis.pcall('ZADD', due, now + 20, '*' .. last) end
  end
end
local all = slot or ''
if called == 1 then all = 'called' .. (slot and ' ' .. slot or '') end
local heard = redis.pcall('PUBLISH', prefix .. channel, all)
local waiting = redis.call('ZCARD', list) - #marks
-- For a moment, a call counts; a list that has led to none ends.
if waiting == 0 then
  redis.pcall('PEXPIRE', due, ARGV[2])
  if called == 1 then
    redis.pcall('PEXPIRE', list, ARGV[2])
  elseif #marks > 0 then
    redis.call('ZREM', list, unpack(marks))
  end
end
return {called, type(heard) == 'table' and 0 or heard, waiting}
