-- KEYS: the members alive in the queues of some locks, then the waitlists of the same locks. For each, how many
-- wait there, and the processes of the first hundred of them: the 16 digits in which the name of a waiter
-- begins. Its reply is an error if this may not be seen.
local time, found, locks = redis.call('TIME'), {}, #KEYS / 2
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i, key in ipairs(KEYS) do
  local names = i <= locks and redis.call('ZRANGEBYSCORE', key, now, '+inf') or redis.call('ZRANGE', key, 0, -1)
  -- What is no waiter is behind all of them: see wait.lua.
  while i > locks and #names > 0 and string.find(names[#names], '^[>!]') do table.remove(names) end
  found[i] = {#names}
  for place = 1, math.min(#names, 100) do
    found[i][place + 1] = string.sub(names[place], 1, 16)
  end
end
return found
