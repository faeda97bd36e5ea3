-- KEYS[1]: what is locked. KEYS[2], if given: its readers. Its value and the ms it has yet to live, nil
-- if nothing is there. Where it is read, also the readers, each with the ms that it has yet to live: of
-- very many, the last to end. Who lacks the right to see them sees the rest.
local holder = redis.call('GET', KEYS[1])
if holder ~= 'quorumlock:shared' or not KEYS[2] then
  return holder and {holder, redis.call('PTTL', KEYS[1])}
end
local readers, time = {}, redis.pcall('TIME')
local all = redis.pcall('ZRANGE', KEYS[2], -100, -1, 'WITHSCORES')
if time.err or all.err then return {holder, redis.call('PTTL', KEYS[1]), readers} end
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 1, #all, 2 do
  if all[i + 1] - now >= 0 then
    readers[#readers + 1] = all[i]
    readers[#readers + 1] = all[i + 1] - now
  end
end
return {holder, redis.call('PTTL', KEYS[1]), readers}
