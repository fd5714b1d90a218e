"""One scenario: a handful of clients, an upstream that has its own mind, then quiet and the judgement."""

import asyncio

from clients.collector import collect
from clients.http_session import HttpSession
from clients.job_answerer import JobAnswerer
from clients.lone_post import LonePosts
from clients.modern_client import ModernClient
from clients.modern_posts import ModernPosts
from clients.old_sse_client import OldSseClient
from clients.unix_client import UnixClient
from clients.watcher import Watcher
from judge import judge
from quiet import until_quiet


async def run(world, number, choices):
    ledger = world.ledger
    ledger.begin()
    await world.change_policy(choices.of("policy"))
    world.others_done.clear()
    world.upstream.quiet = False
    before = (await world.status())["ring"]["dropped"]
    clients = [_client(world, f"s{number}c{index}", choices.of("client", index))
               for index in range(choices.pick({1: 1, 3: 3, 6: 3, 10: 1}))]
    until = asyncio.Event()
    living = asyncio.ensure_future(world.upstream.live(choices.of("upstream"), until))
    changing = asyncio.ensure_future(world.change_policy_again(choices.of("policy", "again")))
    answering = asyncio.ensure_future(JobAnswerer(f"s{number}jobs", world).live())
    try:
        if choices.chance(0.4):
            await _one_after_the_other(world, clients)
        else:
            await _all_at_once(world, clients, choices.pause(1.0))
        until.set()
        await changing
        await living
        world.upstream.quiet = True
        await _all_done(world)
        await _quiet_and_judged(world, number, before)
    finally:
        until.set()
        await living
        answering.cancel()
        await asyncio.wait([answering, changing])


def _client(world, name, choices):
    return choices.choices([UnixClient, ModernClient, HttpSession, LonePosts, OldSseClient, Watcher, ModernPosts],
                           [9, 5, 6, 3, 1, 1, 3])[0](
        name, world, choices)


async def _one_after_the_other(world, clients):
    """As an agent's steps run: what one has not taken, the next one gets."""
    world.others_done.set()
    for client in clients:
        await client.live()


async def _all_at_once(world, clients, staying):
    """`staying`: seconds after which those leave that have nothing more to do than read."""
    asyncio.get_running_loop().call_later(staying, world.others_done.set)
    lives = [asyncio.ensure_future(client.live()) for client in clients]
    try:
        for life in asyncio.as_completed(lives):
            await life
    finally:
        await asyncio.gather(*lives, return_exceptions=True)


async def _all_done(world):
    """What was begun at the upstream or as an answer of a client goes to its end."""
    while tasks := world.tasks | world.upstream.calls():
        await asyncio.wait(tasks, timeout=world.patience)


async def _quiet_and_judged(world, number, dropped_before):
    ledger = world.ledger
    _, problem = await until_quiet(world)
    if problem:
        ledger.violation(f"slots or clients stay: {problem}", "upstream")
        return
    status, problem = await collect(world, f"s{number}last")
    if problem:
        ledger.violation(f"does not come to rest: {problem}", f"s{number}last")
        return
    judge(ledger, status["ring"]["dropped"] - dropped_before)
