local done, all = 'quorumlock:done:' .. ARGV[1], 1
for _, key in ipairs(KEYS) do
  local value = redis.call('GET', key)
  if value ~= ARGV[1] and value ~= done then
    all = 0
  elseif ARGV[2] == '0' then
    redis.call('PEXPIRE', key, 0)
  else
    local set = redis.pcall('SET', key, done, 'PX', ARGV[2])
    if set.err and string.find(set.err, 'OOM', 1, true) then
      redis.call('PEXPIRE', key, ARGV[2])
      set = redis.pcall('SET', key, done, 'PX', ARGV[2])
    end
    if set.err then return set end
  end
end
return all
