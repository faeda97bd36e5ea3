-- KEYS: what is locked. ARGV: token, ms to live. The worst of the keys: 1 held (its life
-- prolonged, never shortened), 0 vacant, -1 taken. What is only kept for a waiter is vacant. An
-- extension sets nothing.
local worst = 1
for _, key in ipairs(KEYS) do
  local holder = redis.call('GET', key)
  if holder == ARGV[1] then
    if redis.call('PTTL', key) < tonumber(ARGV[2]) then redis.call('PEXPIRE', key, ARGV[2]) end
  else
    local taken = holder and string.sub(holder, 1, 16) ~= 'quorumlock:next:'
    worst = math.min(worst, taken and -1 or 0)
  end
end
return worst
