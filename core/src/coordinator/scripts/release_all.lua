local ballot = ARGV[2]
local locks = ballot and #KEYS / 2 or #KEYS
local all, failed = true, false
for i = 1, locks do
  if redis.call('GET', KEYS[i]) == ARGV[1] then
    redis.call('DEL', KEYS[i])
  else
    all = false
  end
end
if ballot then
  local time, p = redis.pcall('TIME'), tonumber(ballot)
  if time.err then
    failed = time
  elseif p <= time[1] * 1000000 + time[2] + ARGV[3] then
    for i = locks + 1, #KEYS do
      if p > tonumber(redis.call('GET', KEYS[i]) or '0') then
        local set = redis.pcall('SET', KEYS[i], ballot, 'PX', ARGV[4])
        failed = failed or set.err and set
      end
    end
  end
end
if failed and not all then return failed end
return all and 1 or 0
