-- KEYS: what is locked. ARGV: token, ms to live. The worst of the keys: 1 held (its life
-- prolonged, never shortened), 0 vacant, -1 taken. An extension sets nothing.
local worst = 1
for _, key in ipairs(KEYS) do
  local holder = redis.call('GET', key)
  if holder == ARGV[1] then
    if redis.call('PTTL', key) < tonumber(ARGV[2]) then redis.call('PEXPIRE', key, ARGV[2]) end
  else
    worst = math.min(worst, holder and -1 or 0)
  end
end
return worst
