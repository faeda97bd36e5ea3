-- As much of a server as the scripts ask for: strings that expire, and a clock that the test sets.
-- `store[key]` is {value, ms to live}; `deleted` counts.
local commands = {
  GET = function(key) return store[key] and store[key][1] or false end,
  PTTL = function(key) return store[key] and store[key][2] or -2 end,
  PEXPIRE = function(key, life)
    if store[key] then store[key][2] = tonumber(life) end
  end,
  TIME = function() return {math.floor(clock / 1000000), clock % 1000000} end,
  PUBLISH = function() return 0 end,
  DEL = function(key)
    store[key] = nil
    return 1
  end,
  SET = function(key, value, ...)
    local options = {...}
    if options[1] == 'NX' then
      if store[key] then return false end
      table.remove(options, 1)
    end
    assert(options[1] == 'PX')
    store[key] = {value, tonumber(options[2])}
    return {ok = 'OK'}
  end,
}
redis = {status_reply = function(text) return {ok = text} end}
redis.call = function(name, ...) return commands[name](...) end
redis.pcall = redis.call
