-- KEYS[1]: what is locked. If given, KEYS[2]: its readers, KEYS[3]: its waitlist, and KEYS[4]: when those in it are due.
-- Its value and the ms it has yet to live, nil if nothing is there. If they are given, always all four: the value or nil,
-- the ms, the readers, and how many wait, -1 if that may not be seen. Each reader comes with the ms that it has yet to
-- live: of very many, the last to end. A user without the right to see them sees the rest.
local holder = redis.call('GET', KEYS[1])
local left = holder and redis.call('PTTL', KEYS[1])
if not KEYS[2] then return holder and {holder, left} end
local readers, listed, time = {}, -1, redis.pcall('TIME')
local size, last = redis.pcall('ZCARD', KEYS[3]), redis.pcall('ZRANGE', KEYS[3], -2, -1)
if type(size) == 'number' and not last.err then
  listed = size
  -- What is no waiter is behind all of them: see waitlist.lua.
  for _, name in ipairs(last) do listed = listed - (string.find(name, '^[>!]') and 1 or 0) end
end
if time.err then return {holder, left or -2, readers, listed} end
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- Those that are overdue have died or stopped.
local late, overdue = listed > 0 and redis.pcall('ZRANGEBYSCORE', KEYS[4], '-inf', '(' .. now) or {}, {}
for _, name in ipairs(late) do overdue[name] = true end
for _, name in ipairs(#late > 0 and redis.pcall('ZRANGE', KEYS[3], 0, -1) or {}) do
  listed = listed - (overdue[name] and 1 or 0)
end
local all = holder == 'quorumlock:shared' and redis.pcall('ZRANGE', KEYS[2], -100, -1, 'WITHSCORES')
if not all or all.err then return {holder, left or -2, readers, listed} end
for i = 1, #all, 2 do
  if all[i + 1] - now >= 0 then
    readers[#readers + 1] = all[i]
    readers[#readers + 1] = all[i + 1] - now
  end
end
return {holder, left, readers, listed}
