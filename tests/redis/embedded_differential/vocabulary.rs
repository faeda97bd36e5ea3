//! The parts of the random commands.

pub(crate) const KEYS: [&[u8]; 5] = [b"a", b"b", b"orders:42", b"\0\r\n\xff", b""];
pub(crate) const VALUES: [&[u8]; 5] =
    [b"token", b"other", b"", b"\r\n$-1\r\n\0", b"0123456789abcdef"];
pub(crate) const FIELDS: [&[u8]; 4] = [b"max_ttl", b"lists", b"", b"\0\r\n\xff"];
pub(crate) const CHANNELS: [&str; 3] = ["freed:a", "freed:b", ""];
pub(crate) const NUMBERS: [&str; 12] = [
    "30000",
    "60000",
    "86400000",
    "0",
    "-1",
    "x",
    "",
    "01",
    "1.5",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999",
];

/// Scores that both print in the same way, and what is no score.
pub(crate) const SCORES: [&str; 19] = [
    "1",
    "2",
    "2",
    "-3",
    "0",
    "-0",
    ".5",
    "5.",
    "+1e2",
    "-1.5",
    "1790000000000",
    "5790000000000000",
    "inf",
    "-Infinity",
    "nan",
    "x",
    "",
    " 1",
    "1_0",
];

/// Ends of ranges of scores, and what is none.
pub(crate) const BOUNDS: [&[u8]; 14] = [
    b"-inf", b"+inf", b"inf", b"(1", b"2", b"(2", b"-3", b"(-3", b"(inf", b"0.1", b"1 ", b"1e400",
    b"nan", b"x",
];

/// Places in a sorted set, and what is none.
pub(crate) const PLACES: [&str; 13] = [
    "0",
    "0",
    "1",
    "2",
    "5",
    "-1",
    "-1",
    "-2",
    "-6",
    "9223372036854775807",
    "-9223372036854775808",
    "01",
    "x",
];

/// Key counts that do not match a call.
pub(crate) const COUNTS: [&str; 4] = ["-1", "9", "x", ""];

/// Scripts that try everything that a script can return, call and get wrong.
pub(crate) const SCRIPTS: [&str; 93] = [
    "return 1",
    "return 3.99",
    "return -3.99",
    "return true",
    "return false",
    "return nil",
    "return",
    "return 'a\\r\\nb'",
    "return {1,2,nil,3}",
    "return {1,{2,'x'},false,true}",
    "return function() end",
    "return {ok='fine'}",
    "return {ok=1}",
    "return {err='My Err'}",
    "return {err=''}",
    "return {a=1}",
    "return redis.error_reply('My Err')",
    "return redis.error_reply('Err')",
    "return redis.error_reply('-')",
    "return redis.error_reply('-A b')",
    "return redis.error_reply()",
    "return redis.status_reply('a\\r\\nb')",
    "return redis.status_reply(1)",
    "return redis.call()",
    "return redis.call('NOSUCH')",
    "return redis.pcall('NOSUCH', 'a')",
    "return redis.call('GET')",
    "return redis.call('SET', 'a', {})",
    "return redis.call('GET', nil)",
    "return redis.call('HELLO')",
    "return redis.call('CLIENT', 'ID')",
    "return redis.call('CLIENT', 'NOSUCH')",
    "return redis.call('SCRIPT', 'LOAD', 'return 1')",
    "return redis.call('SUBSCRIBE', 'freed:a')",
    "return redis.call('PING')",
    "return redis.call('PING').ok",
    "return redis.call('EXISTS', KEYS[1])",
    "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', 60000)",
    "return redis.call('SET', KEYS[1], 0.1) and redis.call('GET', KEYS[1])",
    "return redis.call('SET', KEYS[1], 1e20) and redis.call('GET', KEYS[1])",
    "return redis.call('SET', KEYS[1], ARGV[1], 'PX', '0')",
    "return redis.pcall('PEXPIRE', KEYS[1], ARGV[1])",
    "\n\nreturn redis.call('PEXPIRE', KEYS[1], 'x')",
    "return redis.call('PTTL', KEYS[1])",
    "return {redis.call('GET', KEYS[1]), type(redis.call('GET', 'nokey')), #KEYS, #ARGV}",
    "return redis.call('PUBLISH', 'freed:a', 'from a script')",
    "local ok, problem = pcall(redis.call, 'NOSUCH'); return {tostring(ok), type(problem), problem}",
    "return {pcall(error, 'x', 0)}",
    "return {xpcall(function() return redis.call('NOSUCH') end, function(it) return it.err end)}",
    "pcall(redis.call, 'NOSUCH'); return redis.call('EXISTS', KEYS[1])",
    "return {pcall(function() local x; return x.y end)}",
    "return tostring(redis.call('GET', KEYS[1])) .. tostring(nil) .. 1 .. 0.5",
    "local s = 0; for i = 1, 100 do s = s + i end; return s",
    "return {KEYS[1], ARGV[1], string.rep('x', 3), table.concat({1, 2}, ','), math.floor(2.7)}",
    "return redis.call('DEL', KEYS[1]) + redis.call('EXISTS', KEYS[1])",
    "return redis.call('HSET', KEYS[1], 'max_ttl', ARGV[1])",
    "return redis.pcall('HSET', KEYS[1], 'max_ttl', ARGV[1], 'lists')",
    "return redis.pcall('HGETALL', KEYS[1])",
    "return redis.call('HGETALL', KEYS[1])",
    "return redis.call('HGET', KEYS[1], 'max_ttl')",
    "return redis.pcall('HGET', KEYS[1], 'nosuch')",
    "return redis.pcall('HDEL', KEYS[1], 'max_ttl', ARGV[1])",
    "return redis.pcall('ZADD', KEYS[1], 0.5, ARGV[1], 'inf', 'last')",
    "return redis.call('ZADD', KEYS[1], 'XX', 1.5 + 1, ARGV[1])",
    "return redis.pcall('ZREM', KEYS[1], '', ARGV[1])",
    "return {redis.call('ZSCORE', KEYS[1], ARGV[1]), type(redis.call('ZSCORE', KEYS[1], 'nosuch'))}",
    "return redis.pcall('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')",
    "return redis.call('ZRANGE', KEYS[1], -2, '1')",
    "return redis.pcall('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. 2.5)",
    "return redis.pcall('ZCARD', KEYS[1])",
    "return redis.pcall('ZRANGEBYSCORE', KEYS[1], '(' .. 1.5, 'inf')",
    "return {redis.call('ZRANK', KEYS[1], ARGV[1]), type(redis.call('ZRANK', KEYS[1], 'nosuch'))}",
    "local all = {}
     for _, ends in ipairs({{'-inf', '(' .. 1}, {'(' .. 2, '+inf'}}) do
       for _, one in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], ends[1], ends[2])) do all[#all + 1] = one end
     end
     return all",
    "local it
     repeat
       local first = redis.pcall('ZRANGE', KEYS[1], 0, 0)
       it = not first.err and first[1]
       local gone = it and redis.pcall('ZREM', KEYS[1], it)
     until type(gone) ~= 'number'
     return {tostring(it), type(redis.pcall('ZRANGE', KEYS[1], 0, 0).err)}",
    "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PXAT', redis.call('TIME')[1] * 1000 + 60000)",
    "return {redis.call('EXISTS', KEYS[1]), redis.call('TYPE', KEYS[1]), #KEYS, ARGV[1], -7}",
    "return redis.call('TYPE', KEYS[1]).ok .. tostring(tonumber('0x10')) .. tostring(tonumber('x'))",
    "if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return redis.error_reply('WRONG kind') end
     local all, names = redis.call('HGETALL', KEYS[1]), {}
     for i = 1, #all, 2 do table.insert(names, all[i]) end
     table.sort(names)
     return {#all, names, math.max(1, #names), redis.status_reply('fine')}",
    "return string.format('%s%06d', '1700000000', '42') .. string.format('%.0f', 1700000000 * 1e6 + 42)",
    "local time = redis.call('TIME')
     return {#time, type(time[1]), #string.format('%s%06d', time[1], time[2]), #time[1]}",
    "return redis.pcall('REPLICAOF', 'NO', 'ONE')",
    "return redis.call('CONFIG', 'SET', 'maxmemory', '0')",
    "return redis.call('INFO', 'replication'):match('role:%a+')",
    "error('x')",
    "error()",
    "error({err='My Err'})",
    "local function f() error('deep') end\nredis.call('DEL', KEYS[1])\nf()",
    "return nosuch",
    "nosuch = 1",
    "redis.nosuch = 1",
    "local x; return x.y",
    "return print(1)",
    "x x",
];

/// Bytes that are no commands, or unusual ones.
pub(crate) const RAW: [&[u8]; 12] = [
    b"*a\r\n",
    b"*1\r\nfoo\r\n",
    b"*1\r\n$-1\r\n",
    b"*1\r\n$x\r\n",
    b"*1\r\n$999999999999\r\n",
    b"*99999999999\r\n",
    b"*+1\r\n$4\r\nPING\r\n",
    b"*2\r\n$3\r\nGET\r\n\r\n",
    b"*0\r\n*-5\r\n\r\n*1\r\n$4\r\nPING\r\n",
    b"*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n",
    b"\r\n\n*1\r\n$0\r\n\r\n",
    b"*01\r\n",
];
