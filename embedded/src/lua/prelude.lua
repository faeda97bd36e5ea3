-- What a script finds around it, as the server gives it. Run once; returns how to run a script.
local is_exhausted = ...
local ask -- executes a command; set for each run

local function refusal(text) return { err = text } end

local function execute(...)
  local count = select('#', ...)
  if count == 0 then return refusal('ERR Please specify at least one argument for this redis lib call') end
  local words = { ... }
  for place = 1, count do
    local word = words[place]
    if type(word) == 'number' then
      words[place] = string.format('%.17g', word)
    elseif type(word) ~= 'string' then
      return refusal('ERR Lua redis lib command arguments must be strings or integers')
    end
  end
  return ask(words)
end

local redis = { pcall = execute }

-- Raises a reply that is an error.
function redis.call(...)
  local reply = execute(...)
  if type(reply) == 'table' and reply.err ~= nil then error(reply, 0) end
  return reply
end

-- Returns what makes a reply of one text.
local function reply_of(make)
  return function(...)
    local text = ...
    if select('#', ...) == 1 and type(text) == 'string' then return make(text) end
    return refusal('ERR wrong number or type of arguments')
  end
end

redis.status_reply = reply_of(function(text) return { ok = text } end)
redis.error_reply = reply_of(function(text)
  if text:sub(1, 1) == '-' then text = text:sub(2) end
  if not text:find(' ', 1, true) then text = 'ERR ' .. text end
  return refusal(text)
end)

-- A script that has used up its instructions may neither catch that nor go on in a handler.
local function alive(...)
  if is_exhausted() then error('exhausted', 0) end
  return ...
end

-- A script catches the text of an error.
local function caught(ok, problem)
  if ok then return ok, problem end
  if type(problem) == 'table' and type(problem.err) == 'string' then problem = problem.err end
  return ok, problem
end

local function refuse() error('Attempt to modify a readonly table', 2) end

local function readonly(library)
  return setmetatable({}, { __index = library, __newindex = refuse })
end

local math = setmetatable({}, { __index = math })
-- The C library's, which is the same in no two runs.
math.random, math.randomseed = false, false

local globals = {
  assert = assert, error = error, getmetatable = getmetatable, ipairs = ipairs, next = next,
  pairs = pairs, rawequal = rawequal, rawget = rawget, rawset = rawset, select = select,
  setmetatable = setmetatable, tonumber = tonumber, tostring = tostring, type = type,
  unpack = unpack, _VERSION = _VERSION,
  redis = readonly(redis), string = readonly(string), table = readonly(table),
  math = readonly(math),
}

-- Results pass `pcall` as one value: a debug build of Lua has no room for many there.
local function packed(...) return { count = select('#', ...), ... } end

local function unpacked(ok, results)
  if ok then return ok, unpack(results, 1, results.count) end
  return ok, results
end

function globals.pcall(run, ...)
  local function run_packed(...) return packed(run(...)) end
  return alive(unpacked(caught(pcall(run_packed, ...))))
end

function globals.xpcall(run, handle)
  local function run_packed() return packed(run()) end
  local function handle_one(problem)
    if is_exhausted() then return problem end
    return (handle(problem))
  end
  return alive(unpacked(xpcall(run_packed, handle_one)))
end

local environment = setmetatable({}, {
  __index = function(_, name)
    local value = rawget(globals, name)
    if value == nil then
      error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
    end
    return value
  end,
  __newindex = refuse,
})
globals._G = environment

-- Says what went wrong.
local function describe(problem)
  if type(problem) ~= 'table' then problem = refusal('ERR ' .. tostring(problem)) end
  return problem
end

return function(script, keys, arguments, execute_with)
  ask = execute_with
  globals.KEYS, globals.ARGV = keys, arguments
  setfenv(script, environment)
  return xpcall(function() return (script()) end, describe)
end
