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
-- A right that a reader needs later: no reader has the name ''.
if alone then redis.call('ZREM', readers, '') end
-- Deletes first: then a master without memory does not refuse the rest. It is no more than before.
redis.call('ZREMRANGEBYSCORE', readers, '-inf', alone and '+inf' or '(' .. now)
local stands = redis.call('ZSCORE', readers, ARGV[1])
if not alone and not stands then return 0 end
local ends = math.max(now + left, stands or 0)
local last = math.max(ends, redis.call('ZRANGE', readers, -1, -1, 'WITHSCORES')[2] or 0)
redis.call('ZADD', readers, ends, ARGV[1])
redis.call('PEXPIRE', readers, last - now + 1000)
redis.call('SET', lock, 'quorumlock:shared', 'PXAT', last)
return 1
