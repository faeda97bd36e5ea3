-- KEYS: what to lock, and behind it, if there is a ballot, the fence of each. ARGV: token, ms to
-- live, whether it is a top-up of what was won ('1') or not ('0'); ballot, us that it may be behind
-- and ahead of this clock, ms that a fence lives; of a block of numbers that ends with the ballot the
-- first. A top-up takes over what is only kept for a waiter, and its ballot may be behind by any
-- time. OK: granted, all of them. Otherwise none, and
-- {why, ms until it may be free, fence, us of this clock, place of the key that is held for longest}: 0 held,
-- -1 stale, -2 clock.
local won, ballot = ARGV[3] == '1', ARGV[4]
local locks = ballot and #KEYS / 2 or #KEYS
local fence, now, clock = '0', 0, '0'
if ballot then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
  clock = string.format('%.0f', now)
  for i = locks + 1, #KEYS do
    local stored = redis.call('GET', KEYS[i])
    if stored and tonumber(stored) > tonumber(fence) then fence = stored end
  end
end
local life, longest, ours = false, 0, {}
for i = 1, locks do
  local holder = redis.call('GET', KEYS[i])
  ours[i] = holder == ARGV[1]
  local kept = won and holder and string.sub(holder, 1, 16) == 'quorumlock:next:'
  if holder and not ours[i] and not kept then
    local left = redis.call('PTTL', KEYS[i])
    if not life or left == -1 or (life ~= -1 and left > life) then life, longest = left, i - 1 end
  end
end
if life then return {0, life, fence, clock, longest} end
if ballot then
  local p, first = tonumber(ballot), tonumber(ARGV[8] or ballot)
  if first <= tonumber(fence) then return {-1, 0, fence, clock} end
  if p > now + ARGV[6] or (not won and first < now - ARGV[5]) then
    return {-2, 0, fence, clock}
  end
  for i = locks + 1, #KEYS do redis.call('SET', KEYS[i], ballot, 'PX', ARGV[7]) end
end
for i = 1, locks do
  -- What is ours already is not prolonged.
  if not ours[i] then redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2]) end
end
return redis.status_reply('OK')
