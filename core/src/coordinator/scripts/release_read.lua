local lock, readers = KEYS[1], KEYS[2]
local holder, left = redis.call('GET', lock), redis.call('ZREM', readers, ARGV[1])
local alone = holder == ARGV[1] and ARGV[1] ~= ''
if not alone and (left == 0 or holder ~= 'quorumlock:shared') then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', readers, '-inf', '(' .. now)
local last = redis.call('ZRANGE', readers, -1, -1, 'WITHSCORES')[2]
if last and not alone then
  redis.call('PEXPIRE', readers, last - now + 1000)
  redis.call('SET', lock, 'quorumlock:shared', 'PXAT', last)
  return 1
end
redis.call('DEL', lock, readers)
if ARGV[2] then redis.pcall('PUBLISH', ARGV[2] .. lock, '') end
return 1
