-- KEYS[1]: the agreement. ARGV: who has noted something, for how many ms what it has sent may yet
-- stand, then its lists of masters. Takes back its part of their note, as far as that is longer; what
-- others have noted stands. How many lists are left.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ours = 'lists\n' .. table.concat(ARGV, '\n', 3) .. '\n'
local mine = 'by ' .. ARGV[1] .. ' ' .. ours
local known, noted = redis.call('HGETALL', KEYS[1]), {}
for place = 1, #known, 2 do noted[known[place]] = known[place + 1] end
local function ends_at(field) return tonumber(noted[field]) or 0 end
local keeps = math.min(ends_at(mine), now + tonumber(ARGV[2]))
local longest, stands, latest, left, before = 0, keeps, now, 0, now
for field in pairs(noted) do
  local of = string.match(field, '^by %S+ (lists\n.*)$') == ours
  if of then longest = math.max(longest, ends_at(field)) end
  if of and field ~= mine then stands = math.max(stands, ends_at(field)) end
end
-- What a client of an older version has noted since is in no part.
if not noted[mine] or ends_at(ours) > longest then stands = ends_at(ours) end
for field in pairs(noted) do
  local ends = field == ours and stands or ends_at(field)
  if string.find(field, '^lists\n') then before = math.max(before, ends_at(field)) end
  if string.find(field, '^lists\n') and ends > now then
    latest, left = math.max(latest, ends), left + 1
  end
end
if noted[mine] then
  -- Without these rights nothing changes: neither a field nor the life of all of them.
  redis.call('HDEL', KEYS[1], '')
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', before - now))
  if stands > now then redis.call('HSET', KEYS[1], ours, string.format('%.0f', stands)) end
  if keeps > now then redis.call('HSET', KEYS[1], mine, string.format('%.0f', keeps)) end
  if stands <= now then redis.call('HDEL', KEYS[1], ours) end
  if keeps <= now then redis.call('HDEL', KEYS[1], mine) end
  -- Without a list, nothing is left.
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', latest - now))
end
return left
