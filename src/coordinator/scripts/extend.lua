-- 1 held (its life prolonged, never shortened), 0 vacant, -1 taken. An extension sets nothing.
local holder = redis.call('GET', KEYS[1])
if not holder then return 0 end
if holder ~= ARGV[1] then return -1 end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
