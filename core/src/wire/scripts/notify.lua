-- KEYS: the hint of a writer that waits. ARGV: the channel of a read-write lock, and 'writers' if they may have it, or
-- 'undone' if only readers may be let in. Writers are notified first, and readers unless a writer waits before them:
-- with the number of clients that listen, over which they spread. Returns that number.
local is_wanted = redis.call('GET', KEYS[1]) and ARGV[2] == 'writers'
local listeners = redis.call('PUBLISH', ARGV[1], ARGV[2])
if listeners > 0 and not is_wanted then redis.call('PUBLISH', ARGV[1], 'readers ' .. listeners) end
return listeners
