-- KEYS: what is locked, and its readers. ARGV: token, ms to live. 1: held by this reader (its life
-- prolonged, never shortened), 0 vacant, -1 taken. Who has held it alone is a reader from now on.
local lock, readers = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local holder, ends = redis.call('GET', lock), now + ARGV[2]
local score = tonumber(redis.call('ZSCORE', readers, ARGV[1]) or nil)
if holder == ARGV[1] then
  -- Every right that a reader needs later is used before anything is written.
  redis.call('ZREM', readers, '')
  redis.call('ZREMRANGEBYSCORE', readers, '-inf', '+inf')
  ends = math.max(ends, now + redis.call('PTTL', lock))
elseif holder ~= 'quorumlock:shared' then
  return holder and -1 or 0
elseif not score or score < now then
  return 0
else
  ends = math.max(ends, score)
end
redis.call('ZADD', readers, ends, ARGV[1])
local last = redis.call('ZRANGE', readers, -1, -1, 'WITHSCORES')[2]
redis.call('PEXPIRE', readers, last - now + 1000)
redis.call('SET', lock, 'quorumlock:shared', 'PXAT', last)
return 1
