local lock, readers = KEYS[1], KEYS[2]
local holder = redis.call('GET', lock)
if holder == 'quorumlock:shared' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local stands = tonumber(redis.call('ZSCORE', readers, ARGV[1]) or -1)
  if stands < now then
    redis.call('ZREMRANGEBYSCORE', readers, '-inf', '(' .. now)
    return 0
  end
  local ends = redis.call('ZRANGE', readers, -2, -1, 'WITHSCORES')
  local last = ends[3] == ARGV[1] and ends[2] or ends[4]
  if last and tonumber(last) >= now then
    -- Every right is tried before anything changes: no reader has the name ''.
    redis.call('ZREM', readers, '')
    redis.call('ZREMRANGEBYSCORE', readers, '+inf', '-inf')
    redis.call('PEXPIRE', readers, ends[4] - now + 1000)
    redis.call('SET', lock, holder, 'PXAT', last)
    redis.call('ZREMRANGEBYSCORE', readers, '-inf', '(' .. now)
    redis.call('ZREM', readers, ARGV[1])
    redis.call('PEXPIRE', readers, last - now + 1000)
    return 1
  end
elseif holder ~= ARGV[1] or holder == '' then
  return 0
end
redis.call('DEL', lock, readers)
if ARGV[2] then redis.pcall('PUBLISH', ARGV[2] .. lock, 'writers') end
return 1
