-- KEYS: keys to look at, then those of their readers. ARGV[1]: the length of the longest value that a
-- lock has. For each key its value, 0 if no lock has such a one; the ms it has yet to live, as PTTL
-- says; and, where it is read, the readers, each with the ms that it has yet to live: of very many,
-- the last to end.
local found, keys = {}, #KEYS / 2
local function readers_of(key)
  local time, all = redis.pcall('TIME'), redis.pcall('ZRANGE', key, -100, -1, 'WITHSCORES')
  local readers = {}
  if time.err or all.err then return readers end
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  for i = 1, #all, 2 do
    if all[i + 1] - now >= 0 then
      readers[#readers + 1] = all[i]
      readers[#readers + 1] = all[i + 1] - now
    end
  end
  return readers
end
for i = 1, keys do
  local value = redis.pcall('GET', KEYS[i])
  if type(value) == 'table' then
    if not string.find(value.err, 'WRONGTYPE', 1, true) then return value end
    value = 0
  elseif value and #value > tonumber(ARGV[1]) then
    value = 0
  end
  found[3 * i - 2] = value
  found[3 * i - 1] = value and redis.call('PTTL', KEYS[i]) or -2
  found[3 * i] = value == 'quorumlock:shared' and readers_of(KEYS[keys + i])
end
return found
