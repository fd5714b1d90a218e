#!/usr/bin/env python3
"""Each file includes the standard headers of what it uses, itself or through the project's headers.

Which other headers a standard header includes differs between the compilers of Debian 12 and 13, so that one of them may
accept a file that lacks an include.
"""

import functools
import os
import re
import sys

from layers import ROOT, sources_of

# header: the names in std that need it.
NAMES = {
    "algorithm": "adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count count_if equal equal_range fill "
                 "find find_first_of find_if find_if_not for_each is_sorted lexicographical_compare lower_bound "
                 "max_element min_element mismatch none_of partition partition_point remove remove_if replace "
                 "reverse rotate search sort stable_sort transform unique upper_bound",
    "array": "array",
    "atomic": "atomic",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "llround lround ceil floor pow",
    "deque": "deque",
    "functional": "function",
    "iterator": "back_inserter istreambuf_iterator make_move_iterator",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "lock_guard mutex unique_lock",
    "numeric": "accumulate",
    "optional": "optional nullopt",
    "random": "random_device",
    "set": "set multiset",
    "span": "span",
    "thread": "thread",
    "tuple": "tuple tie make_tuple",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_set",
    "variant": "variant visit get_if holds_alternative monostate",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in NAMES.items() for name in names.split()}
STANDARD = re.compile(r"^#\s*include\s+<([^>]+)>", re.MULTILINE)
PROJECT = re.compile(r'^#\s*include\s+"([^"]+)"', re.MULTILINE)
COMMENT_OR_TEXT = re.compile(r'//.*|"(?:[^"\\\n]|\\.)*"')


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


@functools.cache
def included(path):
    """The standard headers that the file and the project's headers in it name."""
    text = read(path)
    headers = set(STANDARD.findall(text))
    for name in PROJECT.findall(text):
        for folder in (os.path.dirname(path), os.path.join(ROOT, "client"), os.path.join(ROOT, "daemon")):
            header = os.path.join(folder, name)
            if os.path.exists(header):
                headers |= included(header)
                break
    return headers


def missing(path):
    """(header, name) of each that the file uses without including it."""
    used = re.findall(r"\bstd::(\w+)", COMMENT_OR_TEXT.sub("", read(path)))
    names = {name for name in used if name in HEADER_OF and HEADER_OF[name] not in included(path)}
    return sorted((HEADER_OF[name], name) for name in names)


def main():
    faults = 0
    for path in (*sources_of("daemon"), *sources_of("client")):
        for header, used in missing(os.path.join(ROOT, path)):
            faults += 1
            print(f"{path} uses std::{used} and does not include <{header}>")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
