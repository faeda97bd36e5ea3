-- KEYS: the members alive in the queues of some locks, then the waitlists of the same locks, then when those in them
-- are due. For each of the first two, how many wait there, and the processes of the first hundred of them: the 16 digits
-- in which the name of a waiter begins. Its reply is an error if this may not be seen.
local time, found, locks = redis.call('TIME'), {}, #KEYS / 3
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 1, 2 * locks do
  local names, overdue = nil, {}
  if i <= locks then
    names = redis.call('ZRANGEBYSCORE', KEYS[i], now, '+inf')
  else
    names = redis.call('ZRANGE', KEYS[i], 0, -1)
    -- Those that are overdue have died or stopped.
    local late = redis.call('ZRANGEBYSCORE', KEYS[i + locks], '-inf', '(' .. now)
    for _, name in ipairs(late) do overdue[name] = true end
  end
  local count, processes = 0, {}
  for _, name in ipairs(names) do
    -- What is no waiter is behind all of them: see wait.lua.
    if not overdue[name] and not string.find(name, '^[>!]') then
      count = count + 1
      if count <= 100 then processes[count] = string.sub(name, 1, 16) end
    end
  end
  found[i] = {count, unpack(processes)}
end
return found
