local holder = redis.call('GET', KEYS[1])
if holder and string.sub(holder, 1, 16) ~= 'quorumlock:next:' then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
