-- KEYS: what to lock, its readers, and the hint of a writer that waits. ARGV: token, ms to live, and
-- whether to be in spite of the hint: a reader that was let in before ('1'), or a new one ('0'). OK:
-- granted, a life never shortened. Otherwise {why, ms until it may be free, 0, 0}: 0 held, 1 wanted
-- by a writer.
local lock, readers, hint = KEYS[1], KEYS[2], KEYS[3]
local holder = redis.call('GET', lock)
-- What is only kept for a waiter is no holder to a reader that was let in.
local kept = holder and string.sub(holder, 1, 16) == 'quorumlock:next:'
if kept and ARGV[3] == '1' then holder = false end
if holder and holder ~= 'quorumlock:shared' then return {0, redis.call('PTTL', lock), '0', '0'} end
if ARGV[3] == '0' and redis.call('GET', hint) then return {1, redis.call('PTTL', hint), '0', '0'} end
-- Without memory, or without a right that a reader needs later, there is an error before anything
-- is written: no reader has the name ''.
redis.call('ZADD', readers, 'XX', 0, '')
redis.call('ZREM', readers, '')
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- Readers without the mark, which a client has deleted, do not count.
redis.call('ZREMRANGEBYSCORE', readers, '-inf', holder and '(' .. now or '+inf')
local ends = math.max(now + ARGV[2], redis.call('ZSCORE', readers, ARGV[1]) or 0)
local last = math.max(ends, redis.call('ZRANGE', readers, -1, -1, 'WITHSCORES')[2] or 0)
redis.call('ZADD', readers, ends, ARGV[1])
redis.call('PEXPIRE', readers, last - now + 1000)
redis.call('SET', lock, 'quorumlock:shared', 'PXAT', last)
return redis.status_reply('OK')
