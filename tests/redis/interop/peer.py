"""A lock client in Python, steered line by line over standard input.

    peer.py pottery|redis-py URL...

    acquire RESOURCE TTL_MS   granted ID | refused   (one attempt; TTL_MS 0: no expiry)
    extend ID                 yes | no
    release ID                yes | no

Each line is answered by one line. The end of the input ends the program.
"""

import logging
import sys

from pottery import Redlock
from pottery.exceptions import PrimitiveError
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import LockError
from redis.retry import Retry


class Pottery:
    def __init__(self, masters):
        self.masters = set(masters)

    def acquire(self, resource, ttl):
        lock = Redlock(key=resource, masters=self.masters, auto_release_time=ttl)
        return lock if lock.acquire(blocking=False) else None

    def extend(self, lock):
        lock.extend()

    def release(self, lock):
        lock.release()


class RedisPy:
    def __init__(self, masters):
        (self.master,) = masters

    def acquire(self, resource, ttl):
        lock = self.master.lock(resource, timeout=ttl or None)
        return lock if lock.acquire(blocking=False) else None

    def extend(self, lock):
        lock.extend(lock.timeout, replace_ttl=True)

    def release(self, lock):
        lock.release()


def connect(url):
    # A master that is down is an error at once, not after retries.
    return Redis.from_url(
        url,
        retry=Retry(NoBackoff(), 0),
        socket_connect_timeout=5,
        socket_timeout=5,
    )


def owned(act, lock):
    try:
        act(lock)
    except (PrimitiveError, LockError):
        return "no"
    return "yes"


def main(kind, urls):
    logging.disable()
    client = {"pottery": Pottery, "redis-py": RedisPy}[kind](map(connect, urls))
    locks = []
    for line in sys.stdin:
        match line.split():
            case ["acquire", resource, ttl_ms]:
                lock = client.acquire(resource, int(ttl_ms) / 1000)
                if lock is None:
                    answer = "refused"
                else:
                    answer = f"granted {len(locks)}"
                    locks.append(lock)
            case ["extend", number]:
                answer = owned(client.extend, locks[int(number)])
            case ["release", number]:
                answer = owned(client.release, locks[int(number)])
            case _:
                raise ValueError(line)
        print(answer, flush=True)


main(sys.argv[1], sys.argv[2:])
