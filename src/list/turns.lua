-- KEYS: the members alive in the queues of some locks. For each, how many wait in turn, and the processes of
-- the first hundred of them: the 16 digits in which the name of a waiter begins. Its reply is an error
-- if this may not be seen.
local time, found = redis.call('TIME'), {}
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i, key in ipairs(KEYS) do
  local alive = redis.call('ZRANGEBYSCORE', key, now, '+inf')
  found[i] = {#alive}
  for place = 1, math.min(#alive, 100) do
    found[i][place + 1] = string.sub(alive[place], 1, 16)
  end
end
return found
