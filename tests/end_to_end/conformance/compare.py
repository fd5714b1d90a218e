"""What the conformance suite found lost on the way: python3 compare.py NAME=DIRECTORY NAME=DIRECTORY…

Each directory holds what the suite was told to save (`-o`). The first is the server by itself; the others are judged by it. Prints
a table of the scenarios, and each check that passed there and not here. Exit code 1 if there is one."""

import json
import os
import re
import sys


def checks(directory):
    """{scenario: {check: (status, what was wrong)}}; the worst, where a check stands more than once."""
    found = {}
    for name in sorted(os.listdir(directory)):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", name)
        path = os.path.join(directory, name, "checks.json")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            for check in json.load(file):
                mine = found.setdefault(scenario, {})
                if mine.get(check["id"], ("SUCCESS",))[0] != "FAILURE":
                    mine[check["id"]] = (check["status"], check.get("errorMessage", ""))
    return found


def figures(part):
    passed = sum(status == "SUCCESS" for status, _ in part.values())
    failed = sum(status == "FAILURE" for status, _ in part.values())
    return f"{passed} passed" + (f", {failed} failed" if failed else "")


def main(arguments):
    runs = [(name, checks(directory)) for name, _, directory in (one.partition("=") for one in arguments)]
    _, direct = runs[0]
    print("| scenario | " + " | ".join(name for name, _ in runs) + " |")
    print("|---|" + "---|" * len(runs))
    for scenario in sorted(set().union(*(found for _, found in runs))):
        print(f"| {scenario} | " + " | ".join(figures(found.get(scenario, {})) for _, found in runs) + " |")
    everything = [{(scenario, check): value for scenario, part in found.items() for check, value in part.items()} for _, found in runs]
    print("| all | " + " | ".join(figures(found) for found in everything) + " |")
    lost = 0
    for (name, _), found in list(zip(runs, everything))[1:]:
        for (scenario, check), (status, _) in everything[0].items():
            now, why = found.get((scenario, check), ("not reached", ""))
            if status == "SUCCESS" and now != "SUCCESS":
                lost += 1
                print(f"lost, {name}: {scenario}: {check}: {now} {' '.join(why.split())[:300]}")
    print(f"{lost} lost of {sum(status == 'SUCCESS' for status, _ in everything[0].values()) * (len(runs) - 1)}")
    return 1 if lost or not direct else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
