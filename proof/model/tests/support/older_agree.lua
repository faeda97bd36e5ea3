-- KEYS[1]: the agreement. ARGV: how many ms a note stands (0: look, and write nothing), then max_ttl and
-- the window back and ahead in ms, then the client's lists of masters.
-- {when what is noted now ends, or 0 if nothing is; when the same note ended before, or 0 if there was
-- none; ms since the first note of all; then each difference: field, theirs, ms until it lapses}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local life, numbers = tonumber(ARGV[1]), {'max_ttl', 'window back', 'window ahead'}
local known, noted = redis.call('HGETALL', KEYS[1]), {}
for place = 1, #known, 2 do noted[known[place]] = known[place + 1] end
local since = tonumber(noted.since or now)
local answer = {0, 0, math.max(now - since, 0)}
local function differ(field, theirs, left)
  for _, told in ipairs({field, theirs, left}) do answer[#answer + 1] = told end
end
local latest = now
local ours = 'lists\n' .. table.concat(ARGV, '\n', 5) .. '\n'
for field, ends in pairs(noted) do
  local lists = string.match(field, '^lists(\n.*)$')
  local left = lists and tonumber(ends) - now
  local common = false
  for list = 5, #ARGV do
    common = common or lists and string.find(lists, '\n' .. ARGV[list] .. '\n', 1, true)
  end
  if lists and left > 0 and not common then differ('lists', string.sub(lists, 2, -2), left) end
  if lists then latest = math.max(latest, tonumber(ends)) end
  if lists and left <= 0 and life > 0 then redis.call('HDEL', KEYS[1], field) end
end
for place, field in ipairs(numbers) do
  local theirs = noted[field]
  -- Numbers outlive the last list by what others have taken back.
  if theirs and theirs ~= ARGV[1 + place] and latest > now then differ(field, theirs, latest - now) end
end
local before = tonumber(redis.call('HGET', KEYS[1], ours) or 0)
answer[2] = before
if life == 0 or #answer > 3 then return answer end
for place, field in ipairs(numbers) do redis.call('HSET', KEYS[1], field, ARGV[1 + place]) end
-- Another value than before, or a withdrawal could take back what was confirmed since.
local ends = math.max(now + life, before + 1)
redis.call('HSET', KEYS[1], ours, string.format('%.0f', ends), 'since', string.format('%.0f', since))
-- Never shortened: another client's note may stand for longer.
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.max(latest, ends) - now))
answer[1] = ends
return answer
