-- KEYS[1]: a key that never exists. What cannot be called from here, and why: {command, error} of
-- each. Nothing is written: no key lives for 0 ms, and a field of HSET has no value, but rights are
-- looked at before that. Of no sorted set, nothing is removed or changed.
local calls = {
  {'SET', KEYS[1], '', 'PX', 0}, {'GET', KEYS[1]}, {'DEL', KEYS[1]}, {'PTTL', KEYS[1]},
  {'PEXPIRE', KEYS[1], 1}, {'TIME'}, {'HGET', KEYS[1], ''}, {'HGETALL', KEYS[1]},
  {'HSET', KEYS[1], '', '', ''}, {'HDEL', KEYS[1], ''}, {'ZADD', KEYS[1], 'XX', 0, ''},
  {'ZREM', KEYS[1], ''}, {'ZSCORE', KEYS[1], ''}, {'ZRANGE', KEYS[1], 0, 0},
  {'ZREMRANGEBYSCORE', KEYS[1], 0, 0}, {'ZRANGEBYSCORE', KEYS[1], 0, 0}, {'ZRANK', KEYS[1], ''},
  {'ZCARD', KEYS[1]},
}
local failed = {}
for _, call in ipairs(calls) do
  local reply = redis.pcall(unpack(call))
  if type(reply) == 'table' and reply.err then table.insert(failed, {call[1], reply.err}) end
end
return failed
