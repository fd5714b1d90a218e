#!/usr/bin/env python3
"""How many functions a class has, how many classes have a function of the same short name, and how many files
know the eras of MCP.

A class is taken over by reading its declaration: MOST_FUNCTIONS are read in one sitting. A name of fewer than
LONG letters says nothing where many classes have it; it is to be found by searching for it (`end_listen`, not `end`).
Constructors, destructors, operators and friends are not counted; what overrides a function of an interface is a
function of its class, but its name is the interface's (or the language's, as of a container).

The word of the eras (ERA) is for the folders that translate between them or speak each (OF_ERAS). Elsewhere few
files learn or count the era of a client; the others are told the fact that is meant (`Call::ends_with_client`).
"""

import os
import re
import sys

from layers import ROOT, sources_of

MOST_FUNCTIONS = 45
LONG = 6
MOST_CLASSES = 6
#: Where short names are looked at: what takes part in a call.
FOLDERS = ("daemon/router/", "daemon/session/", "daemon/jobs/", "daemon/upstream/")
ERA = re.compile(r"\bEra\b|\bis_modern\(\)")
OF_ERAS = ("daemon/mcp/", "daemon/session/", "daemon/router/crossing/")
MOST_FILES_OF_ERAS = 12
#: What a container is asked by the language and the standard library.
OF_CONTAINERS = r"(?:bool empty|std::size_t size|auto begin|auto end)\(\) const|auto (?:begin|end)\(\)|void clear\(\)"


def without_texts(text):
    """The code without comments and the contents of literals."""
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', text, flags=re.DOTALL)
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    text = re.sub(r"'(?:[^'\\\n]|\\.)'", "' '", text)
    return re.sub(r"//.*", "", text)


def classes_of(text):
    """(name, body) of each class with a body, also of nested ones."""
    for begin in re.finditer(r"^( *)(?:class|struct) (\w+)(?: final)?\b[^;{(]*\{", text, re.MULTILINE):
        end = text.find("\n" + begin.group(1) + "}", begin.end())
        yield begin.group(2), text[begin.end():end if end >= 0 else text.find("}", begin.end())]


def declarations_of(body):
    """The declarations in the body of a class, with {} instead of bodies."""
    declaration, braces, parentheses = "", 0, 0
    for place, char in enumerate(body):
        if char in "()" and braces == 0:
            parentheses += 1 if char == "(" else -1
        if parentheses == 0 and char in "{}":
            braces += 1 if char == "{" else -1
        if braces == 0 or (braces == 1 and char == "{"):
            declaration += char
        if braces > 0 or parentheses > 0 or char not in ";}":
            continue
        its = re.sub(r"\b(?:public|private|protected):", "", declaration).strip().removesuffix(";")
        is_whole = char == ";" or ("(" in its and not re.match(r"(?:template <[^>]*>\s*)?(?:class|struct|enum)\b", its))
        if is_whole and not re.match(r"\s*[,{]", body[place + 1:place + 200]):  # else a list of initializers goes on
            yield its
            declaration = ""


def functions_of(name, body):
    """(function, whether its name is not its own) of each function that the class declares."""
    for declaration in declarations_of(body):
        head = declaration
        while (shorter := re.sub(r"<[^<>()]*(?:\([^()]*\)[^<>()]*)*>", "", head)) != head:
            head = shorter
        found = re.match(r"[^=(]*?(~?\b\w+)\s*\(", head)
        if found is None or re.match(r"(?:friend|using|enum|static_assert)\b", head):
            continue
        function = found.group(1)
        if function in (name, "~" + name, "explicit", "decltype") or re.search(r"\boperator\b", head[:found.end()]):
            continue
        is_anothers = re.search(r"\)[^()]*\b(?:override|final)\b", head) or re.match(OF_CONTAINERS, head)
        yield function, is_anothers is not None


def main():
    faults, owners, of_eras = [], {}, []
    for path in (*sources_of("daemon"), *sources_of("client")):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = without_texts(file.read())
        if path.startswith("daemon/") and not path.startswith(OF_ERAS) and ERA.search(text):
            of_eras.append(path)
        for owner, body in classes_of(text):
            functions = list(functions_of(owner, body))
            if "-v" in sys.argv:
                print(len(functions), owner, path)
            if len(functions) > MOST_FUNCTIONS:
                faults.append(f"{path}: {owner} has {len(functions)} functions, {MOST_FUNCTIONS} at most")
            for function, is_anothers in functions:
                if path.startswith(FOLDERS) and not is_anothers and len(function) < LONG:
                    owners.setdefault(function, set()).add(owner)
    for function, its in sorted(owners.items()):
        if len(its) > MOST_CLASSES:
            faults.append(f"{function}() is defined by {len(its)} classes, {MOST_CLASSES} at most: "
                          + ", ".join(sorted(its)))
    if len(of_eras) > MOST_FILES_OF_ERAS:
        faults.append(f"{len(of_eras)} files outside of {', '.join(OF_ERAS)} know the eras, {MOST_FILES_OF_ERAS} at most: "
                      + ", ".join(of_eras))
    if "-v" in sys.argv:
        print(f"{len(of_eras)} files know the eras:", *of_eras)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
