-- KEYS[1]: what is locked. If given, KEYS[2]: its readers, and KEYS[3]: who lives in its queue. Its value
-- and the ms it has yet to live, nil if nothing is there. If they are given, always all four: the value
-- or nil, the ms, the readers, and how many wait in turn, -1 if that may not be seen. Each reader comes
-- with the ms that it has yet to live: of very many, the last to end. Who lacks the right to see them
-- sees the rest.
local holder = redis.call('GET', KEYS[1])
local left = holder and redis.call('PTTL', KEYS[1])
if not KEYS[2] then return holder and {holder, left} end
local readers, waiting, time = {}, -1, redis.pcall('TIME')
if time.err then return {holder, left or -2, readers, waiting} end
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local alive = redis.pcall('ZRANGEBYSCORE', KEYS[3], now, '+inf')
if not alive.err then waiting = #alive end
local all = holder == 'quorumlock:shared' and redis.pcall('ZRANGE', KEYS[2], -100, -1, 'WITHSCORES')
if not all or all.err then return {holder, left or -2, readers, waiting} end
for i = 1, #all, 2 do
  if all[i + 1] - now >= 0 then
    readers[#readers + 1] = all[i]
    readers[#readers + 1] = all[i + 1] - now
  end
end
return {holder, left, readers, waiting}
