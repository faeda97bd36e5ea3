local lock, readers = KEYS[1], KEYS[2]
local holder = redis.call('GET', lock)
if holder == 'quorumlock:shared' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', readers, '-inf', '(' .. now)
  if redis.call('ZREM', readers, ARGV[1]) == 0 then return 0 end
  local last = redis.call('ZRANGE', readers, -1, -1, 'WITHSCORES')[2]
  if last then
    redis.call('PEXPIRE', readers, last - now + 1000)
    redis.call('SET', lock, holder, 'PXAT', last)
    return 1
  end
elseif holder ~= ARGV[1] or holder == '' then
  return 0
end
redis.call('DEL', lock, readers)
if ARGV[2] then redis.pcall('PUBLISH', ARGV[2] .. lock, '') end
return 1
