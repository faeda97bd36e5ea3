-- KEYS: what to lock, its readers, and the hint of a writer that waits. ARGV: token, ms to live, and
-- whether to be in spite of the hint: a reader that was let in before ('1'), or a new one ('0'). OK:
-- granted. Otherwise {why, ms until it may be free, 0, 0}: 0 held, 1 wanted by a writer.
local lock, readers, hint = KEYS[1], KEYS[2], KEYS[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- Every right that a reader needs later is used before anything is written.
redis.call('ZSCORE', readers, ARGV[1])
redis.call('ZREM', readers, '')
redis.call('ZREMRANGEBYSCORE', readers, '-inf', '(' .. now)
local holder = redis.call('GET', lock)
if holder and holder ~= 'quorumlock:shared' then return {0, redis.call('PTTL', lock), '0', '0'} end
if ARGV[3] == '0' and redis.call('GET', hint) then return {1, redis.call('PTTL', hint), '0', '0'} end
-- What is left of readers without the mark, which somebody has deleted, does not count.
if not holder then redis.call('DEL', readers) end
redis.call('ZADD', readers, 'NX', now + ARGV[2], ARGV[1])
local last = redis.call('ZRANGE', readers, -1, -1, 'WITHSCORES')[2]
redis.call('PEXPIRE', readers, last - now + 1000)
redis.call('SET', lock, 'quorumlock:shared', 'PXAT', last)
return redis.status_reply('OK')
