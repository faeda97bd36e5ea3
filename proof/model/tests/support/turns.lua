-- What the scripts of waiters in turn ask for besides `redis.lua`: sorted sets. One is stored
-- like a string: {{member = score}, ms to live}.
published = nil

-- The members in the order of their scores, then of their names.
local function members(key)
  local scores, all = store[key] and store[key][1] or {}, {}
  for member in pairs(scores) do all[#all + 1] = member end
  table.sort(all, function(left, right)
    if scores[left] ~= scores[right] then return scores[left] < scores[right] end
    return left < right
  end)
  return all, scores
end

local function within(score, from, to)
  local function bound(text) return tonumber((text:gsub('^%(', ''))) or (text:find('-', 1, true) and -1 or 1) * math.huge end
  local function excludes(text) return text:sub(1, 1) == '(' end
  return (score > bound(from) or score == bound(from) and not excludes(from))
    and (score < bound(to) or score == bound(to) and not excludes(to))
end

local sets = {
  ZADD = function(key, ...)
    local arguments = {...}
    if arguments[1] == 'XX' then
      assert(arguments[3] == '')
      return 0
    end
    store[key] = store[key] or {{}, -1}
    store[key][1][arguments[2]] = assert(tonumber(arguments[1]))
    return 1
  end,
  ZREM = function(key, member)
    local found = store[key] and store[key][1][member] and 1 or 0
    if found == 1 then store[key][1][member] = nil end
    if #members(key) == 0 then store[key] = nil end
    return found
  end,
  ZSCORE = function(key, member)
    local _, scores = members(key)
    return scores[member] and string.format('%.0f', scores[member]) or false
  end,
  ZCARD = function(key) return #members(key) end,
  ZRANK = function(key, member)
    for place, name in ipairs(members(key)) do
      if name == member then return place - 1 end
    end
    return false
  end,
  ZRANGE = function(key, from, to, with)
    local all, scores = members(key)
    if from ~= to then
      assert(from == 0 and to == -1)
      return all
    end
    assert(from == 0 or from == -1 or from >= #all)
    local member = all[from < 0 and #all or from + 1]
    return {member, member and with and string.format('%.0f', scores[member])}
  end,
  ZRANGEBYSCORE = function(key, from, to)
    local found, all, scores = {}, members(key)
    for _, member in ipairs(all) do
      if within(scores[member], from, to) then found[#found + 1] = member end
    end
    return found
  end,
  PUBLISH = function(channel, message)
    if message:sub(1, 5) == 'look ' then
      hurried[#hurried + 1] = message
    else
      published = {channel, message}
    end
    return 0
  end,
}

local call = redis.call
redis.call = function(name, ...) return (sets[name] or function(...) return call(name, ...) end)(...) end
redis.pcall = redis.call
