#!/usr/bin/env python3
"""What .clang-tidy asks for holds in daemon/ and client/.

    tidy.py BUILD_FOLDER

Most of what a file costs are the headers of fmt and of the standard library, which all checks look through: so many
files are one translation unit, as many as have no name twice. The flags are those of the build's compile_commands.json.
"""

import concurrent.futures
import os
import re
import subprocess
import sys

import alone

# Of a unit that includes .cpp files; names of another file stand around in it, which the compilers look for instead.
NOT_OF_UNITS = "-bugprone-suspicious-include,-clang-diagnostic-shadow"
TYPE = re.compile(r"^(?:class|struct|enum class|enum) (\w+)", re.MULTILINE)
CONSTANT = re.compile(r"^(?!namespace|template|using|class|struct|enum)\w[^({=;\[\n]*?(?<!::)\b(\w+) *[{=;\[]",
                      re.MULTILINE)
FUNCTION = re.compile(r"^\w[^({=;\[\n]*?(?<!::)\b(\w+)\(([^)]*)\)", re.MULTILINE)


class Source:
    """A file, what it declares (that stands at the beginning of a line), and all words in it."""

    def __init__(self, path):
        self.path = os.path.join(alone.ROOT, path)
        with open(self.path, encoding="utf-8") as file:
            text = re.sub(r'//.*|"(?:[^"\\\n]|\\.)*"', "", file.read())
        self.words = set(re.findall(r"\w+", text))
        self.types = set(TYPE.findall(text))
        self.names = self.types | set(CONSTANT.findall(text))
        # Overloads may stand beside one another: by name, and by the types of the parameters.
        functions = [(name, re.sub(r"\s|\w+(?=,|$)", "", parameters)) for name, parameters in FUNCTION.findall(text)]
        self.functions, self.function_names = set(functions), {name for name, _ in functions}

    def goes_with(self, other):
        return not (self.functions & other.functions or self.names & (other.names | other.function_names)
                    or other.names & self.function_names or self.types & other.words or other.types & self.words)


def units():
    """(target, files) of each unit: a file goes into the first one where it can."""
    found = []
    for path, target in alone.files():
        if not path.endswith(".cpp"):
            continue
        source = Source(path)
        for unit_target, files in found:
            if unit_target == target and all(source.goes_with(file) for file in files):
                files.append(source)
                break
        else:
            found.append((target, [source]))
    return found


def main():
    build = sys.argv[1]
    folder = os.path.join(build, "tidy")
    os.makedirs(folder, exist_ok=True)

    def fault(number, target, files):
        """What is found in the unit, if anything."""
        unit = os.path.join(folder, f"{target}_{number}.cpp")
        with open(unit, "w", encoding="utf-8") as file:
            file.writelines(f'#include "{source.path}"\n' for source in files)
        directory, (_, *flags) = alone.flags_of(build, target)
        command = ["nice", "-n", "19", "clang-tidy-14", "--quiet", f"--config-file={alone.ROOT}/.clang-tidy",
                   "--warnings-as-errors=*", f"--checks={NOT_OF_UNITS}", os.path.abspath(unit), "--", *flags,
                   "-Wno-unknown-warning-option"]
        outcome = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        return outcome.stdout + outcome.stderr if outcome.returncode != 0 else None

    # The largest first, and the others beside it.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [text for text in pool.map(fault, *zip(*((number, *unit) for number, unit in enumerate(units())))) if text]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
