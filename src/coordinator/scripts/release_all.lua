local ballot = ARGV[3]
local locks = ballot and #KEYS / 2 or #KEYS
if ballot then
  local time = redis.call('TIME')
  local p = tonumber(ballot)
  if p <= time[1] * 1000000 + time[2] + ARGV[4] then
    for i = locks + 1, #KEYS do
      if p > tonumber(redis.call('GET', KEYS[i]) or '0') then
        redis.call('SET', KEYS[i], ballot, 'PX', ARGV[5])
      end
    end
  end
end
local all, heard = true, 0
for i = 1, locks do
  if redis.call('GET', KEYS[i]) == ARGV[1] then
    redis.call('DEL', KEYS[i])
    local told = ARGV[2] ~= '' and redis.pcall('PUBLISH', ARGV[2] .. KEYS[i], '')
    if type(told) == 'number' then heard = math.max(heard, told) end
  else
    all = false
  end
end
return all and 1 + heard or 0
