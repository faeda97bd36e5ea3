-- KEYS[1]: the agreement. ARGV: how many ms a note stands (0: look, and write nothing), then max_ttl and
-- the window back and ahead in ms, then who asks, the server process that it asks and the one that it
-- met before (each may be unknown: '-', '', ''), then the client's lists of masters.
-- {when what this client has noted ends, or 0 if nothing is; 1 if the process met before is noted here;
-- then each difference: field, theirs, ms until it lapses}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local life, numbers = tonumber(ARGV[1]), {'max_ttl', 'window back', 'window ahead'}
-- The most clients, and server processes, with a field of their own.
local clients, processes = 64, 8
local known, noted = redis.call('HGETALL', KEYS[1]), {}
for place = 1, #known, 2 do noted[known[place]] = known[place + 1] end
local function ends_at(field) return tonumber(noted[field]) or 0 end
local answer = {0, redis.call('HGET', KEYS[1], 'run ' .. ARGV[7]) and 1 or 0}
local function differ(field, theirs, left)
  for _, told in ipairs({field, theirs, left}) do answer[#answer + 1] = told end
end
-- A field for the lists, until when their note stands, and one for each client's part of that: `by -`
-- has the part of clients of older versions, and of those for which there is no room.
local ours = 'lists\n' .. table.concat(ARGV, '\n', 8) .. '\n'
local mine, others = 'by ' .. ARGV[5] .. ' ' .. ours, 'by - ' .. ours
local latest, parts, longest, count, runs, lapsed = now, {}, 0, 0, {}, {}
for field in pairs(noted) do
  local lists, of = string.match(field, '^lists(\n.*)$'), string.match(field, '^by %S+ (lists\n.*)$')
  local run, left = string.match(field, '^run '), ends_at(field) - now
  local common = false
  for list = 8, #ARGV do
    common = common or lists and string.find(lists, '\n' .. ARGV[list] .. '\n', 1, true)
  end
  if lists and left > 0 and not common then differ('lists', string.sub(lists, 2, -2), left) end
  if lists then latest = math.max(latest, ends_at(field)) end
  if (lists or of or run) and left <= 0 then
    lapsed[#lapsed + 1] = field
  elseif of then
    count = count + 1
    if of == ours then parts[field], longest = ends_at(field), math.max(longest, ends_at(field)) end
  elseif run then
    runs[#runs + 1] = field
  end
end
for place, field in ipairs(numbers) do
  local theirs = noted[field]
  -- Numbers outlive the last list by what others have taken back.
  if theirs and theirs ~= ARGV[1 + place] and latest > now then differ(field, theirs, latest - now) end
end
if life == 0 or #answer > 2 then return answer end
-- Another value than theirs, or they could take back what is confirmed here.
if ends_at(ours) > math.max(longest, now) then parts[others] = ends_at(ours) + 1 end
if not parts[mine] and count >= clients then mine = others end
-- Never shortened: what was sent may rest on an earlier note.
parts[mine] = math.max(parts[mine] or 0, now + life)
for _, ends in pairs(parts) do longest = math.max(longest, ends) end
local function expire() redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.max(latest, longest) - now)) end
local run = 'run ' .. ARGV[6]
table.sort(runs, function(one, other) return ends_at(one) < ends_at(other) end)
if not noted[run] and #runs >= processes then lapsed[#lapsed + 1] = runs[1] end
-- Without the rights to these two, nothing is noted that stays.
expire()
for _, field in ipairs(lapsed) do redis.call('HDEL', KEYS[1], field) end
local notes = {numbers[1], ARGV[2], numbers[2], ARGV[3], numbers[3], ARGV[4]}
parts[ours] = longest
if ARGV[6] ~= '' then parts[run] = math.max(ends_at(run), now + life) end
for field, ends in pairs(parts) do
  notes[#notes + 1], notes[#notes + 2] = field, string.format('%.0f', ends)
end
redis.call('HSET', KEYS[1], unpack(notes))
expire()
answer[1] = parts[mine]
return answer
