"""Headers of the standard library and of other projects, precompiled in a few sets.

A file is compiled with a set only if it includes all that is in the set anyway, itself or through our own headers: what
it forgets to include stays unknown to it. Which sets are worth making is found from what the files include.
"""

import collections
import functools
import itertools
import os
import re
import shlex
import subprocess

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)
# To make a set costs as much as to read it so many times; what it saves of reading it.
MAKING, SAVED = 4, 0.9


class Headers:
    """What files include with <>, as bit masks of the files that are read for it."""

    def __init__(self, directory, command):
        self.directory, self.command = directory, command
        self.folders = [word[2:] for word in command if word.startswith("-I")]
        self.numbers, self.sizes, self.masks = {}, [], {}

    def mask(self, header):
        """The files that are read for <header>; none if it cannot stand alone."""
        if header not in self.masks:
            outcome = subprocess.run([*self.command, "-M", "-x", "c++", "-"], input=f"#include <{header}>\n",
                                     cwd=self.directory, capture_output=True, text=True, check=False)
            self.masks[header] = 0
            if outcome.returncode == 0:
                for path in shlex.split(outcome.stdout.replace("\\\n", " "))[1:]:
                    self.masks[header] |= 1 << self.number(os.path.realpath(path))
        return self.masks[header]

    def number(self, path):
        if path not in self.numbers:
            self.numbers[path] = len(self.sizes)
            self.sizes.append(os.path.getsize(path) if os.path.exists(path) else 0)
        return self.numbers[path]

    @functools.lru_cache(None)
    def size(self, mask):
        return sum(size for number, size in enumerate(self.sizes) if mask >> number & 1)

    def within(self, mask):
        """The headers that read nothing else than `mask` does."""
        return [header for header, own in sorted(self.masks.items()) if own and own & ~mask == 0]

    def of_file(self, path):
        """All that the file reads of other projects, through our own headers too."""
        seen, todo, mask = set(), [path], 0
        while todo:
            file = todo.pop()
            if file in seen:
                continue
            seen.add(file)
            with open(file, encoding="utf-8") as text:
                for quote, name in INCLUDE.findall(text.read()):
                    if quote == "<":
                        mask |= self.mask(name)
                        continue
                    places = [os.path.normpath(os.path.join(place, name))
                              for place in (os.path.dirname(file), *self.folders)]
                    todo.extend([place for place in places if os.path.exists(place)][:1])
        return mask


def worth_making(headers, needs):
    """The sets, as masks, that save most for files that read `needs`."""
    counted = collections.Counter(needs)
    often = [mask for mask, _ in counted.most_common(100)]
    candidates = {functools.reduce(lambda whole, header: whole | headers.mask(header), headers.within(mask), 0)
                  for mask in {*counted, *(one & other for one, other in itertools.combinations(often, 2))}} - {0}
    users = {mask: [need for need in counted if mask & ~need == 0] for mask in candidates}
    saved, chosen = dict.fromkeys(counted, 0), []

    def worth(mask):
        gain = SAVED * headers.size(mask)
        return (sum(counted[need] * max(0, gain - saved[need]) for need in users[mask])
                - MAKING * headers.size(mask))

    while candidates:
        best = max(sorted(candidates), key=worth)
        if worth(best) <= 0:
            break
        chosen.append(best)
        for need in users[best]:
            saved[need] = max(saved[need], SAVED * headers.size(best))
    return chosen


class Precompiled:
    """The sets for some files of one target, made in `folder`."""

    def __init__(self, folder, directory, command, paths):
        self.headers = Headers(directory, command)
        self.needs = {path: self.headers.of_file(path) for path in paths}
        self.sets = [(mask, os.path.join(folder, f"set_{number}.hpp"))
                     for number, mask in enumerate(worth_making(self.headers, self.needs.values()))]
        os.makedirs(folder, exist_ok=True)

    def make(self, one):
        """A set that cannot be made is read as text, which is slower and means the same."""
        mask, path = one
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"#include <{header}>\n" for header in self.headers.within(mask))
        subprocess.run([*self.headers.command, "-x", "c++-header", path, "-o", path + ".gch"],
                       cwd=self.headers.directory, capture_output=True, check=False)

    def fitting(self, needs):
        """The largest set of what the file `needs` includes anyway."""
        return max(((self.headers.size(mask), header, mask) for mask, header in self.sets
                    if mask & ~self.needs[needs] == 0), default=(0, None, 0))

    def options(self, needs):
        """The compiler's options by which a file has what is precompiled of what the file `needs` includes."""
        header = self.fitting(needs)[1]
        return ["-include", header] if header else []

    def cost(self, path, needs):
        """Of the file with these options: what is read for it, in bytes."""
        mask = self.fitting(needs)[2]
        return self.headers.size(self.needs[path] & ~mask) + (1 - SAVED) * self.headers.size(mask)
