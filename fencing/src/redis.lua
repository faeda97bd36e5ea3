do
    local fence, presented = table.remove(KEYS, 1), table.remove(ARGV, 1)
    local function number(text)
        local token = string.match(text, '^[1-9]%d*$') and tonumber(text)
        return token and token < 9007199254740992 and token
    end
    local seen = redis.call('GET', fence)
    if not number(presented) then return redis.error_reply('BADTOKEN ' .. presented) end
    if seen and not number(seen) then return redis.error_reply('BADFENCE ' .. seen) end
    if seen and number(presented) < number(seen) then
        return redis.error_reply('STALETOKEN ' .. presented .. ' came, and ' .. seen .. ' has been seen')
    end
    redis.call('SET', fence, presented)
end
