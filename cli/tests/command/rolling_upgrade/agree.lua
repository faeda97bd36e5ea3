-- KEYS[1]: the agreement. ARGV: its life in ms, then max_ttl and the window back and ahead in ms,
-- then the client's lists of masters. 1: agreed, and confirmed; n: agreed, and noted until then, as
-- nobody had before. Otherwise what another client says: {field, theirs, ms until it lapses}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local life = tonumber(ARGV[1])
local fields = {'max_ttl', 'window back', 'window ahead'}
for place, field in ipairs(fields) do
  local theirs = redis.call('HGET', KEYS[1], field)
  if theirs and theirs ~= ARGV[1 + place] then
    return {field, theirs, redis.call('PTTL', KEYS[1])}
  end
end
local known = redis.call('HGETALL', KEYS[1])
for place = 1, #known, 2 do
  local lists = string.match(known[place], '^lists(\n.*)$')
  if lists then
    local left = tonumber(known[place + 1]) - now
    local common = false
    for list = 5, #ARGV do
      common = common or string.find(lists, '\n' .. ARGV[list] .. '\n', 1, true)
    end
    if left <= 0 then
      redis.call('HDEL', KEYS[1], known[place])
    elseif not common then
      return {'lists', string.sub(lists, 2, -2), left}
    end
  end
end
for place, field in ipairs(fields) do redis.call('HSET', KEYS[1], field, ARGV[1 + place]) end
local lists = 'lists\n' .. table.concat(ARGV, '\n', 5) .. '\n'
local before = redis.call('HGET', KEYS[1], lists)
-- Another value than before, or a withdrawal could take back what was confirmed since.
local ends = math.max(now + life, (tonumber(before) or 0) + 1)
redis.call('HSET', KEYS[1], lists, string.format('%.0f', ends))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return before and 1 or ends
