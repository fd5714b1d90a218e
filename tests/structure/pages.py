#!/usr/bin/env python3
"""The wording and the length of the pages.

    pages.py [FOLDER...]      all pages; with folders also the comments of their sources

Fails on phrases that a reader stumbles over, and on pages that are too long. What programs print is not judged: text in
`backquotes`, in quotes and in blocks of code, and rows of options, which --help says. A word stands between blanks, has
a letter or a digit, and is not in a block of code. Pages that a program writes are not judged either.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOT_OURS = {".git", "build", "node_modules"}
MOST_WORDS = {"README.md": 1000, "daemon/BEHAVIOUR.md": 9660}
MOST_IN_ALL = 32700
GENERATED = {"tests/bench/companions/README.md"}
# What is wrong, and what to write instead.
PHRASES = {
    r"(?<!there )(?:is|are|was|were) no (?!longer|more)\w+": "is not a",
    r"whoever|whomever|whosoever": "the client, the caller, the process",
    r"nobody|somebody|anybody|everybody": "no client, a client, every client",
    r"anew": "again",
    r"any more": "no longer",
    r"likewise": "also",
    r"sees? to": "handles",
    r"(?:goes|go|went|gone|going) on with": "resumes, continues",
    r"(?:image|picture) of the program": "the new process",
    r"comes? of (?:it|them)|becomes? of": "the result",
    r"has to be given": "is required",
    r"in vain|for want of": "without",
    r"untold|untaken": "undelivered, not taken",
    r"can come no more": "was lost",
    r"(?:all )?goes on as before": "nothing changes",
    r"(?:are|is) others? now": "have changed",
    r"to nothing it was asked": "unsolicited",
}
# (page, phrase): where a phrase is right.
ALLOWED = set()


def files(ending, folders=("",)):
    for top in folders:
        for folder, inside, names in os.walk(os.path.join(ROOT, top)):
            inside[:] = sorted(set(inside) - NOT_OURS)
            for name in sorted(names):
                if name.endswith(ending):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def blanked(pattern, text):
    """Without what matches; the lines stay where they are."""
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def prose_of_page(text):
    return blanked(r"(?ms)^```.*?^```$|^\| `-[^\n]*$|`[^`\n]*`|\"[^\"\n]*\"", text)


def comments_of_source(text):
    comments = re.sub(r"(?m)^(?!\s*//).*$", "", text)
    return blanked(r"`[^`\n]*`|\"[^\"\n]*\"", re.sub(r"(?m)^\s*///?", "", comments))


def phrases_in(path, prose):
    for phrase, instead in PHRASES.items():
        for found in re.finditer(rf"(?i)\b(?:{phrase})\b", re.sub(r"\n", " ", prose)):
            words = found[0].lower()
            if (path, words) not in ALLOWED:
                yield f"{path}:{prose.count(chr(10), 0, found.start()) + 1}: '{words}': better: {instead}"


def words_in(text):
    return sum(any(character.isalnum() for character in word) for word in blanked(r"(?ms)^```.*?^```$", text).split())


def too_long(counts):
    for path, most in MOST_WORDS.items():
        if counts[path] > most:
            yield f"{path} has {counts[path]} words, {most} at most"
    if sum(counts.values()) > MOST_IN_ALL:
        longest = ", ".join(f"{path} {count}" for path, count in sorted(counts.items(), key=lambda one: -one[1])[:5])
        yield f"all pages have {sum(counts.values())} words, {MOST_IN_ALL} at most; the longest: {longest}"


def main():
    pages = {path: read(path) for path in files(".md") if path not in GENERATED}
    faults = [fault for path, text in pages.items() for fault in phrases_in(path, prose_of_page(text))]
    for path in files((".hpp", ".cpp"), sys.argv[1:]):
        faults += phrases_in(path, comments_of_source(read(path)))
    faults += too_long({path: words_in(text) for path, text in pages.items()})
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
