-- KEYS[1]: what is locked. Its value and the ms it has yet to live; nil if nothing is there.
local holder = redis.call('GET', KEYS[1])
return holder and {holder, redis.call('PTTL', KEYS[1])}
