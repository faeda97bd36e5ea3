local left = redis.call('PTTL', KEYS[1])
local value = redis.pcall('GET', KEYS[1])
return type(value) == 'string' and {left, value:sub(1, 600)} or left
