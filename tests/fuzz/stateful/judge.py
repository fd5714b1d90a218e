"""Judges a scenario when everything is quiet."""


def judge(ledger, dropped):
    """`dropped`: notifications that the daemon says it has pushed out before anybody took them."""
    for call in ledger.calls:
        _answered_once(ledger, call)
        _acted_as_told(ledger, call)
        _allowed(ledger, call)
        _progress_is_whole(ledger, call)
    for key, times in ledger.acted.items():
        if times > 1:
            ledger.violation(f"{key} was done {times} times", key)
    _questions(ledger)
    _notifications(ledger, dropped)


def _answered_once(ledger, call):
    if len(call.answers) > 1:
        ledger.violation(f"{call} was answered {len(call.answers)} times", call.client, call.key)
    if not call.answers and not call.cancelled and not call.excused:
        ledger.violation(f"{call} was not answered", call.client, call.key)


def _acted_as_told(ledger, call):
    if call.method != "tools/call" or not call.answers or call.ambiguous:
        return
    acted = ledger.acted.get(call.key, 0)
    kind, error = call.answers[0]
    if kind == "result" and acted != 1:
        ledger.violation(f"{call} has a result and was done {acted} times", call.key)
    if kind == "bridge" and error["data"].get("delivered") == "no" and acted and not call.goes_on:
        ledger.violation(f"{call} was told not delivered and was done: {error}", call.key)


def _allowed(ledger, call):
    """What the policy denies has not reached the server, and what it allows was not denied."""
    denied = ledger.policy.denies(call)
    # A further round of a call has its key: the first was allowed, if its rule has changed since.
    if denied and not call.goes_on and (call.key in ledger.arrived or call.key in ledger.acted or call.key in ledger.read):
        ledger.violation(f"{call} is denied and has reached the server", call.key)
    if not call.answers or call.ambiguous:
        return
    kind, error = call.answers[0]
    told_so = kind == "bridge" and error["data"]["kind"] == "denied"
    if denied and kind in ("result", "upstream", "asked"):
        ledger.violation(f"{call} is denied and was answered: {kind}", call.key, call.raw_id)
    if told_so and ledger.policy.allows_call(call) and call.method != "bridge/nonsense":
        ledger.violation(f"{call} is allowed and was denied: {error}", call.key, call.raw_id)
    if told_so and error["data"]["delivered"] != "no":
        ledger.violation(f"{call} was denied, delivered {error['data']['delivered']}", call.key)


def _progress_is_whole(ledger, call):
    if call.wants_progress and call.progress != list(range(1, len(call.progress) + 1)):
        ledger.violation(f"{call} has progress {call.progress}", call.key)
    sent = ledger.progress_sent.get(call.key, 0)
    whole = call.answers and call.answers[0][0] in ("result", "upstream") and call.wants_progress and not call.ambiguous
    if whole and call.plan.get("form") != "accepted" and len(call.progress) != sent:
        ledger.violation(f"{call} has {len(call.progress)} of {sent} progress notifications", call.key)


def _questions(ledger):
    for number in range(ledger.first_question, len(ledger.questions) + 1):
        question = ledger.questions[number]
        words = (f'"question":{number}', f"asks {number} ", f"answered {number}")
        if len(question.responses) > 1:
            ledger.violation(f"question {number} was answered {len(question.responses)} times", *words)
        if not question.responses and not question.moot:
            ledger.violation(f"question {number} was not answered; asked: {question.asked}", *words)
        for response in question.responses:
            marker = (response.get("result") or {}).get("marker")
            # An answer out of nowhere may meet the id of a question that its client was asked; if nobody is known to
            # have been asked, the one who was has not read it yet.
            is_stray = str(marker).endswith("/stray") and (not question.asked or marker[:-len("/stray")] in question.asked)
            if "result" in response and marker not in question.given and not is_stray:
                ledger.violation(f"question {number} has the answer {marker}, given were {question.given}", *words)


def _notifications(ledger, dropped):
    missing = [serial for serial, notification in ledger.notifications.items()
               if serial >= ledger.first_serial and not notification.in_doubt and not notification.takers]
    if len(missing) > dropped and not ledger.unread_streams:
        ledger.violation(f"notifications {missing[:20]} ({len(missing)}) reached nobody who takes, and {dropped} are "
                         "counted as dropped", *[f'"serial":{serial},' for serial in missing[:5]],
                         *[f"says notifications/message {serial}" for serial in missing[:5]])
