-- KEYS: what to lock, its queue, who in it lives, and, if there is a ballot, the fence. ARGV: token ('' to
-- look, and not to try), ms to live, waiter, its ticket ('' for none yet), ms for which its place
-- lives, ms for which the key is kept; ballot, us that it may be behind and ahead of this clock, ms that
-- a fence lives. OK: granted. Otherwise {why, ms until it may be free, fence, us of this clock, stamp
-- (0: the queue is full), how many are ahead, what holds it}: 0 held, 2 others are first, -1 stale,
-- -2 clock, -3 it would be granted.
local lock, queue, alive, fence = KEYS[1], KEYS[2], KEYS[3], '0'
local token, waiter, ticket, ballot = ARGV[1], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[7])
-- Without memory, or without a right that a waiter needs later, or if something else has these names,
-- there is an error before anything is written: no waiter has the name '', and the queue gets no other
-- life than it has at the end.
redis.call('ZADD', queue, 'XX', 0, '')
redis.call('ZREM', queue, '')
redis.call('ZREM', alive, '')
redis.call('ZRANK', queue, '')
redis.call('ZSCORE', alive, '')
redis.call('ZRANGE', queue, 0, 0)
local size, holder = redis.call('ZCARD', queue), redis.call('GET', lock)
local left = redis.call('PTTL', lock)
if ballot then fence = redis.call('GET', KEYS[4]) or '0' end
local stale = ballot and ballot <= tonumber(fence)
local time = redis.call('TIME')
local us = time[1] * 1000000 + time[2]
local now, most = math.floor(us / 1000), math.floor(us / 1000) + 10 * ARGV[5]
local late = redis.call('ZRANGEBYSCORE', alive, '-inf', '(' .. now)
local early = redis.call('ZRANGEBYSCORE', alive, '(' .. most, '+inf')
-- The queue outlasts each place in it, also if this one is short.
local lasts = math.max(2 * ARGV[5], math.min(redis.call('PTTL', queue), 20 * ARGV[5]))
redis.call('PEXPIRE', queue, lasts)
-- Who has not asked in time, or not since this clock was set back.
for _, all in ipairs({late, early}) do
  for _, gone in ipairs(all) do
    size = size - redis.call('ZREM', queue, gone)
    redis.call('ZREM', alive, gone)
  end
end
local stamp = ticket or redis.call('ZSCORE', queue, waiter)
if not stamp and size < 4096 then
  local last = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]
  stamp = math.max(us, last and last + 1 or 0)
end
if stamp then
  redis.call('ZADD', queue, string.format('%.0f', stamp), waiter)
  redis.call('ZADD', alive, now + ARGV[5], waiter)
  redis.call('PEXPIRE', queue, lasts)
  redis.call('PEXPIRE', alive, lasts)
end
local head = redis.call('ZRANGE', queue, 0, 0)[1]
while head and not redis.call('ZSCORE', alive, head) do
  redis.call('ZREM', queue, head)
  head = redis.call('ZRANGE', queue, 0, 0)[1]
end
local kept = holder and string.sub(holder, 1, 16) == 'quorumlock:next:'
local why
if token ~= '' and holder == token then
  return redis.status_reply('OK')
elseif holder and not kept then
  why = 0
elseif head ~= waiter then
  why = 2
elseif stale then
  why = -1
elseif ballot and (ballot > us + ARGV[9] or ballot < us - ARGV[8]) then
  why = -2
elseif token == '' then
  why = -3
end
if not why then
  if ballot then redis.call('SET', KEYS[4], ARGV[7], 'PX', ARGV[10]) end
  redis.call('SET', lock, token, 'PX', ARGV[2])
  return redis.status_reply('OK')
end
-- None in front takes what is vacant: the places of the dead end soon, and together.
if token == '' and why == 2 and not holder and tonumber(redis.call('ZSCORE', alive, head)) > now + ARGV[5] then
  for _, member in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
    local ends = redis.call('ZSCORE', alive, member)
    if ends and tonumber(ends) > now + ARGV[5] then redis.call('ZADD', alive, now + ARGV[5], member) end
  end
end
-- A try that is refused keeps what is vacant for who is first. A look does not: a holder may be about
-- to come back here.
if token ~= '' and why ~= 0 and head and holder ~= 'quorumlock:next:' .. head then
  -- Its place ends before the key.
  local soon = now + ARGV[5]
  if tonumber(redis.call('ZSCORE', alive, head)) > soon then redis.call('ZADD', alive, soon, head) end
  redis.call('SET', lock, 'quorumlock:next:' .. head, 'PX', ARGV[6])
end
return {
  why, holder and left or 0, fence, string.format('%.0f', us), string.format('%.0f', stamp or 0),
  redis.call('ZRANK', queue, waiter) or redis.call('ZCARD', queue),
  why == 0 and string.sub(holder, 1, 600) or '',
}
