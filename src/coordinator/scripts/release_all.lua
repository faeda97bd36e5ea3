-- KEYS: what is locked, and behind it, if there is a ballot, the fence of each. ARGV: token;
-- ballot, us that it may be ahead of this clock, ms that a fence lives. 1 if all keys were ours
-- and are deleted. Raises the fences, so that an acquire of this ballot that is still on its way
-- is stale when it comes.
local ballot = ARGV[2]
local locks = ballot and #KEYS / 2 or #KEYS
if ballot then
  local time = redis.call('TIME')
  local p = tonumber(ballot)
  if p <= time[1] * 1000000 + time[2] + ARGV[3] then
    for i = locks + 1, #KEYS do
      if p > tonumber(redis.call('GET', KEYS[i]) or '0') then
        redis.call('SET', KEYS[i], ballot, 'PX', ARGV[4])
      end
    end
  end
end
local all = 1
for i = 1, locks do
  if redis.call('GET', KEYS[i]) == ARGV[1] then redis.call('DEL', KEYS[i]) else all = 0 end
end
return all
