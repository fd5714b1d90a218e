"""Detached calls of the crash test: submitted with a key, again with the same key if the daemon died with the answer, and
collected by whoever comes at the end."""

import asyncio
import json

from callers import Line
from peers import make_plan

COLLECT_MS = 60_000


async def submitter(line, choices):
    """One job; who got no answer asks again, and must not have it done twice."""
    world, key = line.world, f"{line.name}/job"
    params = {"name": "act", "arguments": {"key": key, "plan": make_plan(choices, world.kind)}}
    submit = {"method": "tools/call", "params": params, "key": key}
    answer = await line.request("bridge/submit", submit)
    while answer is None and not world.load_ends.is_set():
        async with Line(world, line.name) as another:
            answer = await another.request("bridge/submit", submit)
    if answer is None:
        return
    if "result" not in answer:
        world.ledger.violation(f"the submit of {key} was refused: {json.dumps(answer)}", key)
        return
    job = answer["result"]["job"]
    world.ledger.note(line.name, f"has {key} as {job}: {json.dumps(answer['result'])}")
    if not answer["result"].get("durable"):
        world.ledger.violation(f"{key} is not durable: {json.dumps(answer)}", key)
    world.jobs[job] = key
    if choices.chance(0.3):
        await line.request("bridge/collect", {"job": job, "waitMs": int(choices.random() * 500)})


async def collect_all(world):
    """Each job comes to an end, which says what was done."""
    for job, key in world.jobs.items():
        async with Line(world, "collector") as line:
            await line.send({"method": "bridge/peek"})
            answer = await asyncio.wait_for(line.request("bridge/collect", {"job": job, "waitMs": COLLECT_MS}), 90)
        _judge(world.ledger, job, key, answer)


def _judge(ledger, job, key, answer):
    result = (answer or {}).get("result") or {}
    ledger.note("collector", f"{key} is {job}: {json.dumps(answer)[:300]}")
    acted = ledger.acted.get(key, 0)
    error = (result.get("response") or {}).get("error") or {}
    delivered = (error.get("data") or {}).get("delivered")
    if result.get("state") == "completed":
        if acted != 1:
            ledger.violation(f"{key} is completed and was done {acted} times", key)
    elif result.get("state") != "failed" or delivered not in ("no", "unknown"):
        ledger.violation(f"{key} ({job}) has no end that says what was done: {json.dumps(answer)[:500]}", key, job)
    elif delivered == "no" and acted:
        ledger.violation(f"{key} was told that it was not delivered, and was done", key)
