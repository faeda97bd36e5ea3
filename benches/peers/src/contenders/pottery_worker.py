"""A worker of the bench with one client of pottery. It obeys two of the orders of src/worker/mod.rs:

    pottery_worker.py URL...

    gather 1                             1
    crowd WARM_UP_MS SPAN_MS RESOURCE    LONGEST_WAIT_US SECTIONS

Its key is `redlock:` and its name for the lock, so RESOURCE begins with that.
"""

import contextlib
import logging
import sys
import time

from pottery import Redlock
from pottery.exceptions import PrimitiveError
from redis import Redis

WORK = 0.002
TTL = 10


def crowd(masters, warm_up, span, resource):
    lock = Redlock(key=resource.removeprefix("redlock:"), masters=masters, auto_release_time=TTL)
    begin = time.monotonic() + warm_up
    end = begin + span
    longest, sections = 0, 0
    while (asked := time.monotonic()) < end:
        lock.acquire()
        won = time.monotonic()
        longest = max(longest, min(won, end) - max(asked, begin))
        if won < end:
            time.sleep(WORK)
            sections += begin <= time.monotonic() < end
        # A lock that was held for too long is reported here.
        with contextlib.suppress(PrimitiveError):
            lock.release()
    return f"{longest * 1e6} {sections}"


def main(urls):
    logging.disable()
    masters = {Redis.from_url(url) for url in urls}
    for master in masters:
        master.ping()
    print("ready", flush=True)
    for line in sys.stdin:
        match line.split():
            case ["gather", "1"]:
                answer = "1"
            case ["crowd", warm_up, span, resource]:
                answer = crowd(masters, int(warm_up) / 1000, int(span) / 1000, resource)
            case _:
                raise ValueError(line)
        print(answer, flush=True)


main(sys.argv[1:])
