if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
local told = redis.pcall('PUBLISH', ARGV[2] .. KEYS[1], '')
return type(told) == 'number' and told + 1 or 1
