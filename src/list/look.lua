-- KEYS: keys to look at. ARGV[1]: the length of the longest value that a lock has. For each key its
-- value and the ms it has yet to live, as PTTL says; 0 as the value if no lock has such a one.
local found = {}
for i, key in ipairs(KEYS) do
  local value = redis.pcall('GET', key)
  if type(value) == 'table' then
    if not string.find(value.err, 'WRONGTYPE', 1, true) then return value end
    value = 0
  elseif value and #value > tonumber(ARGV[1]) then
    value = 0
  end
  found[2 * i - 1] = value
  found[2 * i] = value and redis.call('PTTL', key) or -2
end
return found
