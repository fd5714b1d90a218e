"""Judges a round when everything is quiet: what both ends have recorded has to fit together, whenever the daemon died."""

from collections import Counter


def judge(world, status):
    _effects(world.ledger)
    _notifications(world, status["ring"])
    if world.kind != "stdio" and world.upstream.sessions_opened > 1:
        world.ledger.violation(f"{world.upstream.sessions_opened} sessions were opened though none was lost", "initialize")


def _effects(ledger):
    for key, times in ledger.acted.items():
        if times > 1:
            ledger.violation(f"{key} was done {times} times", key)
    for call in ledger.calls:
        acted = ledger.acted.get(call.key, 0)
        for answer in call.answers:
            data = (answer.get("error") or {}).get("data") or {}
            if "result" in answer and acted != 1:
                ledger.violation(f"{call} has a result and was done {acted} times", call.key)
            if data.get("delivered") == "no" and acted:
                ledger.violation(f"{call} was told that it was not delivered, and was done", call.key)


def _notifications(world, ring):
    ledger = world.ledger
    accepted = Counter(serial for serial in world.accepted.values() if serial is not None)
    for serial, times in accepted.items():
        if times > 1 and world.kind == "resumption":
            ledger.violation(f"notification {serial} stands {times} times in the ring", f" {serial}")
    # What stood in the ring was accepted; and what was said on a stream that can be resumed comes in the end.
    missing = [serial for serial, notification in ledger.notifications.items()
               if not notification.takers and (serial in accepted or not notification.in_doubt)]
    # What a call said after the last client had left waits for the next one.
    if len(missing) > ring["dropped"] + ring["untaken"]:
        ledger.violation(f"notifications {missing[:20]} ({len(missing)}) reached nobody who takes, of which {ring['dropped']} "
                         f"are counted as dropped and {ring['untaken']} wait", *[f" {serial}" for serial in missing[:5]])
