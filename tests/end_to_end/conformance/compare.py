"""What the conformance suite found lost on the way: python3 compare.py [--known FILE] NAME=DIRECTORY NAME=DIRECTORY…

Each directory holds what the suite was told to save (`-o`). The first is the server by itself; the others are judged by it. Prints
a table of the scenarios, and each check that is worse than it was there: one that passed and no longer does, one that failed or was
warned about and was not there. FILE names those that are known, one a line: `NAME scenario check  # reason`.
Exit code 1 if there is another one, or one of these runs' that is known and did not happen."""

import json
import os
import re
import sys

# Where a check stands more than once, the worst counts. What was never reached says nothing, as what only informs does.
RANKS = ["SKIPPED", "INFO", "SUCCESS", "WARNING", "FAILURE"]


def worse(one, other):
    return RANKS.index(one) > RANKS.index(other)


def checks(directory):
    """{scenario: {check: (status, what was wrong)}}."""
    found = {}
    for name in sorted(os.listdir(directory)):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", name)
        path = os.path.join(directory, name, "checks.json")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            for check in json.load(file):
                mine = found.setdefault(scenario, {})
                if check["id"] not in mine or worse(check["status"], mine[check["id"]][0]):
                    mine[check["id"]] = (check["status"], check.get("errorMessage") or "")
    return found


def lost_checks(direct, found):
    """[(scenario, check, status, why)] of what is worse than directly."""
    lost = []
    for key in sorted({**direct, **found}):
        before, (now, why) = direct.get(key, ("",))[0], found.get(key, ("not reached", ""))
        passed, bad = before == "SUCCESS", now in ("FAILURE", "WARNING")
        if (passed and now != "SUCCESS") or (bad and not (before in RANKS and not worse(now, before))):
            lost.append((*key, now, " ".join(why.split())))
    return lost


def known_checks(path):
    """{(run, scenario, check)}."""
    with open(path, encoding="utf-8") as file:
        lines = [line.partition("#")[0].split() for line in file]
    return {tuple(line) for line in lines if line}


def figures(part):
    counts = [(word, sum(status == name for status, _ in part.values()))
              for word, name in (("passed", "SUCCESS"), ("failed", "FAILURE"), ("warned", "WARNING"))]
    return ", ".join(f"{count} {word}" for word, count in counts if count or word == "passed")


def main(arguments):
    known = set()
    if arguments[:1] == ["--known"]:
        known, arguments = known_checks(arguments[1]), arguments[2:]
    runs = [(name, checks(directory)) for name, _, directory in (one.partition("=") for one in arguments)]
    _, direct = runs[0]
    print("| scenario | " + " | ".join(name for name, _ in runs) + " |")
    print("|---|" + "---|" * len(runs))
    for scenario in sorted(set().union(*(found for _, found in runs))):
        print(f"| {scenario} | " + " | ".join(figures(found.get(scenario, {})) for _, found in runs) + " |")
    everything = [{(scenario, check): value for scenario, part in found.items() for check, value in part.items()} for _, found in runs]
    print("| all | " + " | ".join(figures(found) for found in everything) + " |")
    bad = not direct
    for (name, _), found in list(zip(runs, everything))[1:]:
        lost = lost_checks(everything[0], found)
        expected = {line for line in known if line[0] == name}
        for scenario, check, status, why in lost:
            is_known = (name, scenario, check) in expected
            bad = bad or not is_known
            print(f"{'known' if is_known else 'lost'}, {name}: {scenario}: {check}: {status} {why[:300]}")
        for line in sorted(expected - {(name, scenario, check) for scenario, check, _, _ in lost}):
            bad = True
            print(f"not lost any more, {': '.join(line)}")
        print(f"{name}: {len(lost)} lost, {len(expected)} of them known")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
