-- KEYS: what is locked, and its readers. ARGV: token, ms to live. 1: held by this reader (its life
-- prolonged, never shortened), 0 vacant or only kept for a waiter, -1 taken. Who has held it alone is
-- a reader from now on.
local lock, readers = KEYS[1], KEYS[2]
local holder, left = redis.call('GET', lock), ARGV[2]
local alone = holder == ARGV[1]
local kept = holder and string.sub(holder, 1, 16) == 'quorumlock:next:'
if not alone and holder ~= 'quorumlock:shared' then return holder and not kept and -1 or 0 end
-- Before the clock is read: it may advance within a script.
if alone then left = math.max(left, redis.call('PTTL', lock)) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stands = redis.call('ZSCORE', readers, ARGV[1])
local last = redis.call('ZRANGE', readers, -1, -1, 'WITHSCORES')[2]
if not alone and (not stands or tonumber(stands) < now) then
  redis.call('ZREMRANGEBYSCORE', readers, '-inf', '(' .. now)
  return 0
end
-- Without a right that a reader needs now or later, there is an error before anything changes: no reader
-- has the name '', and the set keeps the life that it has. Deletes first: then a master without memory
-- does not refuse the rest. It is no more than before.
redis.call('ZREM', readers, '')
redis.call('ZREMRANGEBYSCORE', readers, '+inf', '-inf')
redis.call('ZADD', readers, 'XX', 0, '')
redis.call('PEXPIRE', readers, (last or now) - now + 1000)
local ends = math.max(now + left, not alone and stands or 0)
last = math.max(ends, not alone and last or 0)
redis.call('SET', lock, 'quorumlock:shared', 'PXAT', last)
redis.call('ZREMRANGEBYSCORE', readers, '-inf', alone and '+inf' or '(' .. now)
redis.call('ZADD', readers, ends, ARGV[1])
redis.call('PEXPIRE', readers, last - now + 1000)
return 1
