-- What the scripts of readers ask for besides `redis.lua`: sorted sets, and moments of a clock in
-- ms. A sorted set is stored like a string: {{member = score}, ms to live}.
published = nil

local function now() return math.floor(clock / 1000) end
local function members(key) return store[key] and store[key][1] or {} end
local function is_empty(key) return next(members(key)) == nil end

-- What is below a bound, which may be exclusive, or infinite.
local function below(bound)
  local exclusive = bound:match('^%((.*)$')
  if bound == '+inf' then return function() return true end end
  local limit = tonumber(exclusive or bound)
  return function(score) return score < limit or (not exclusive and score == limit) end
end

local function tidy(key)
  if store[key] and is_empty(key) then store[key] = nil end
end

local readers = {
  ZSCORE = function(key, member)
    local score = members(key)[member]
    return score and string.format('%d', score) or false
  end,
  ZREM = function(key, member)
    local found = members(key)[member] and 1 or 0
    if found == 1 then store[key][1][member] = nil end
    tidy(key)
    return found
  end,
  ZREMRANGEBYSCORE = function(key, from, to)
    -- A range without anything in it: whether it may be asked for.
    if from == '+inf' and to == '-inf' then return 0 end
    assert(from == '-inf')
    local goes = below(tostring(to))
    for member, score in pairs(members(key)) do
      if goes(score) then store[key][1][member] = nil end
    end
    tidy(key)
  end,
  ZADD = function(key, ...)
    local arguments = {...}
    if arguments[1] == 'XX' then
      assert(members(key)[arguments[3]] == nil)
      return 0
    end
    store[key] = store[key] or {{}, -1}
    store[key][1][arguments[2]] = tonumber(arguments[1])
    return 1
  end,
  ZRANGE = function(key, from, to, with)
    assert(from < 0 and to == -1 and with == 'WITHSCORES')
    local sorted, answer = {}, {}
    for member, score in pairs(members(key)) do sorted[#sorted + 1] = {member, score} end
    table.sort(sorted, function(left, right)
      if left[2] ~= right[2] then return left[2] < right[2] end
      return left[1] < right[1]
    end)
    for place = math.max(#sorted + 1 + from, 1), #sorted do
      answer[#answer + 1] = sorted[place][1]
      answer[#answer + 1] = string.format('%d', sorted[place][2])
    end
    return answer
  end,
  PEXPIRE = function(key, life)
    if not store[key] then return 0 end
    store[key][2] = math.floor(tonumber(life))
    if store[key][2] <= 0 then store[key] = nil end
    return 1
  end,
  DEL = function(...)
    for _, key in ipairs({...}) do store[key] = nil end
    return 1
  end,
  SET = function(key, value, option, moment)
    assert(option == 'PXAT')
    store[key] = {value, tonumber(moment) - now()}
    return {ok = 'OK'}
  end,
  PUBLISH = function(channel)
    published = channel
    return 0
  end,
}

local call = redis.call
redis.call = function(name, ...) return (readers[name] or function(...) return call(name, ...) end)(...) end
redis.pcall = redis.call
