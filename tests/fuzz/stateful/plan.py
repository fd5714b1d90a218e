"""What the upstream is to do with one call. It travels in the call's arguments, so that the answer to a call depends on
the seed alone and not on who came first."""

from policy import TOOLS, URIS

HUGE = 300_000
WIDE = "fuzz://wide/"  # resources that only large listens name


def make_plan(choices, kind):
    """`kind` of the upstream: http, stdio or sse."""
    plan = {
        "tool": choices.pick({TOOLS[0]: 6, TOOLS[1]: 1, TOOLS[2]: 1}),
        "before": round(choices.pause(0.03), 4),
        "steps": [_step(choices) for _ in range(choices.pick({0: 5, 1: 2, 3: 2, 6: 1}))],
        "end": choices.pick({"result": 30, "error": 3, "tool_error": 2, "huge": 2, "hang": 1, "malformed": 1}),
    }
    if kind == "http":
        plan["form"] = choices.pick({"json": 4, "sse": 4, "ids": 3, "accepted": 0.5})
        plan["refuse"] = choices.pick({"": 20, "401": 1, "403": 0.5, "429": 1, "503r": 1, "503": 1, "500": 1,
                                       "lost": 1})
        plan["break"] = choices.pick({"": 12, "before": 1, "abort_before": 1, "middle": 2, "abort_middle": 1,
                                      "after": 1})
        plan["trickle"] = choices.chance(0.08)
        plan["tail"] = choices.pick({"end": 9, "keep": 1})
        if plan["form"] == "json":
            plan["steps"] = []
    elif choices.chance(0.02):
        plan["break"] = "crash"
    if kind == "sse" and choices.chance(0.05):
        plan["refuse"] = choices.pick({"429": 1, "500": 1, "503r": 1})
    return plan


def read_plan(choices):
    """Of a resources/read: it needs no more than its uri."""
    return {"uri": choices.pick({URIS[0]: 3, URIS[1]: 1})}


def _step(choices):
    kind = choices.pick({"progress": 4, "log": 2, "updated": 2, "list_changed": 1, "server_stream": 2, "sleep": 2,
                         "ask": 1.5, "disguised": 0.7})
    if kind == "disguised":
        return [kind, choices.choice(["ProgressToken", "progresstoken", "progre\u017f\u017fToken", "progressToken\0"])]
    if kind == "sleep":
        return [kind, round(choices.random() * 0.02, 4)]
    if kind == "ask":
        return [kind, choices.pick({"elicitation/create": 3, "sampling/createMessage": 2, "roots/list": 1,
                                    "fuzz/question": 1}), choices.pick({"request": 3, "server": 1})]
    return [kind]
