-- KEYS[1]: the agreement. ARGV: when what a client has noted ends, then its lists of masters. Takes
-- it back unless another client has confirmed it since. How many lists are left.
local lists = 'lists\n' .. table.concat(ARGV, '\n', 2) .. '\n'
if redis.call('HGET', KEYS[1], lists) == ARGV[1] then redis.call('HDEL', KEYS[1], lists) end
local known, left = redis.call('HGETALL', KEYS[1]), 0
for place = 1, #known, 2 do
  if string.find(known[place], '^lists\n') then left = left + 1 end
end
if left == 0 then redis.call('DEL', KEYS[1]) end
return left
