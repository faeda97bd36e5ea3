-- KEYS: what to lock, its readers, and the hint of a writer that waits. ARGV: token, ms to live, and
-- whether to be in spite of the hint: a reader that was let in before ('1'), or a new one ('0'). OK:
-- granted, a life never shortened. Otherwise {why, ms until it may be free, 0, 0}: 0 held, 1 wanted
-- by a writer.
local lock, readers, hint = KEYS[1], KEYS[2], KEYS[3]
local value = redis.call('GET', lock)
-- What is only kept for a waiter is no holder to a reader that was let in.
local kept = value and string.sub(value, 1, 16) == 'quorumlock:next:'
local holder = not (kept and ARGV[3] == '1') and value
if holder and holder ~= 'quorumlock:shared' then return {0, redis.call('PTTL', lock), '0', '0'} end
if ARGV[3] == '0' and redis.call('GET', hint) then return {1, redis.call('PTTL', hint), '0', '0'} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stands = redis.call('ZSCORE', readers, ARGV[1])
local last = redis.call('ZRANGE', readers, -1, -1, 'WITHSCORES')[2]
-- Without memory, or without a right that a reader needs now or later, there is an error before anything
-- changes: no reader has the name '', and the set keeps the life that it has.
redis.call('ZADD', readers, 'XX', 0, '')
redis.call('ZREM', readers, '')
redis.call('ZREMRANGEBYSCORE', readers, '+inf', '-inf')
redis.call('PEXPIRE', readers, (last or now) - now + 1000)
-- Readers without the mark, which a client has deleted, do not count.
local ends = math.max(now + ARGV[2], holder and stands or 0)
last = math.max(ends, holder and last or 0)
redis.call('SET', lock, 'quorumlock:shared', 'PXAT', last)
redis.call('ZREMRANGEBYSCORE', readers, '-inf', holder and '(' .. now or '+inf')
redis.call('ZADD', readers, ends, ARGV[1])
redis.call('PEXPIRE', readers, last - now + 1000)
return redis.status_reply('OK')
