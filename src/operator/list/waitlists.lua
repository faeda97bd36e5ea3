-- KEYS: the waitlists of some locks, then when those in them are due. For each lock, how many wait there, and the
-- processes of the first hundred of them: the 16 digits in which the name of a waiter begins. Its reply is an error if
-- this may not be seen.
local time, found, locks = redis.call('TIME'), {}, #KEYS / 2
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 1, locks do
  -- Those that are overdue have died or stopped.
  local late, overdue = redis.call('ZRANGEBYSCORE', KEYS[i + locks], '-inf', '(' .. now), {}
  for _, name in ipairs(late) do overdue[name] = true end
  local count, processes = 0, {}
  for _, name in ipairs(redis.call('ZRANGE', KEYS[i], 0, -1)) do
    -- What is no waiter is behind all of them: see waitlist.lua.
    if not overdue[name] and not string.find(name, '^[>!]') then
      count = count + 1
      if count <= 100 then processes[count] = string.sub(name, 1, 16) end
    end
  end
  found[i] = {count, unpack(processes)}
end
return found
