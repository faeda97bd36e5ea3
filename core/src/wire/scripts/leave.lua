local lock, queue, alive, ballot = KEYS[1], KEYS[2], KEYS[3], ARGV[7]
local token, waiter, leaves = ARGV[1], ARGV[2], ARGV[3] ~= 'try'
local holder, failed = redis.call('GET', lock), false
local kept = holder and string.sub(holder, 1, 16) == 'quorumlock:next:'
local ours = token ~= '' and holder == token
local freed = ours or leaves and waiter ~= '' and holder == 'quorumlock:next:' .. waiter
if freed then
  redis.call('DEL', lock)
  holder = false
end
if leaves and waiter ~= '' then
  redis.pcall('ZREM', queue, waiter)
  redis.pcall('ZREM', alive, waiter)
end
local time = redis.pcall('TIME')
local us = not time.err and time[1] * 1000000 + time[2]
if ballot and not us then
  failed = time
elseif ballot and tonumber(ballot) <= us + ARGV[8]
  and tonumber(ballot) > tonumber(redis.call('GET', KEYS[4]) or '0') then
  local set = redis.pcall('SET', KEYS[4], ballot, 'PX', ARGV[9])
  failed = set.err and set
end
local function first()
  while us do
    local head = redis.pcall('ZRANGE', queue, 0, 0)[1]
    local ends = head and redis.pcall('ZSCORE', alive, head)
    if not head or type(ends) == 'table' then return end
    if ends and tonumber(ends) >= math.floor(us / 1000) then return head end
    if redis.pcall('ZREM', queue, head) ~= 1 then return end
  end
end
if freed or ARGV[3] == 'hold' and (not holder or kept) then
  local head = first()
  if head then
    -- The place of the first ends before the key that is kept for it. What is released or withdrawn ends all
    -- places as early, if a message can tell their waiters to look: the dead among them end together.
    local soon = math.floor(us / 1000) + ARGV[4]
    local function is_long(member)
      local ends = redis.pcall('ZSCORE', alive, member)
      return type(ends) == 'string' and tonumber(ends) > soon
    end
    -- To ask the first and the last in front is enough, as a rule: those behind come in one by one.
    local last, front = redis.pcall('ZRANGE', alive, -1, -1)[1], {head}
    if leaves and last and is_long(last) then
      local edge = redis.pcall('ZRANGE', queue, 255, 255)[1]
      if not edge or is_long(edge) or is_long(head) then front = redis.pcall('ZRANGE', queue, 0, -1) end
    end
    for _, member in ipairs(front) do
      if is_long(member) then redis.pcall('ZADD', alive, soon, member) end
      -- Those whose places are short, too: they may be about to look more seldom.
      if ARGV[6] ~= '' and member ~= head then
        redis.pcall('PUBLISH', ARGV[6] .. '@' .. string.sub(member, 1, 16), 'look ' .. member .. ' ' .. lock)
      end
    end
  end
  if head and not holder then
    redis.pcall('SET', lock, 'quorumlock:next:' .. head, 'PX', ARGV[5])
  end
  if ARGV[6] ~= '' then
    if head then
      redis.pcall('PUBLISH', ARGV[6] .. '@' .. string.sub(head, 1, 16), 'next ' .. head .. ' ' .. lock)
    end
    redis.pcall('PUBLISH', ARGV[6] .. lock, head or '')
  end
end
if failed and not ours then return failed end
return ours and 1 or 0
