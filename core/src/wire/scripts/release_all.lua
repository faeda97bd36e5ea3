local ballot = ARGV[2]
local locks = ballot and #KEYS / 2 or #KEYS
local values, all, failed = {}, true, false
-- What is of another type is not ours, and must not keep the other keys from being deleted.
for i = 1, #KEYS do
  local value = redis.pcall('GET', KEYS[i])
  local is_error = type(value) == 'table'
  if is_error and string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then return value end
  values[i] = not is_error and value
end
for i = 1, locks do
  if values[i] == ARGV[1] then
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
      if p > tonumber(values[i] or '0') then
        local set = redis.pcall('SET', KEYS[i], ballot, 'PX', ARGV[4])
        failed = failed or set.err and set
      end
    end
  end
end
if failed and not all then return failed end
return all and 1 or 0
