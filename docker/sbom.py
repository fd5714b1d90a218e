#!/usr/bin/env python3
"""Writes what is in the files of a release for one architecture, as CycloneDX.

    sbom.py ARCH VERSION FOLDER COMPILED_IN

FOLDER/lib/packages: the libraries beside the programs, each with the package it is from. COMPILED_IN: the packages whose
headers and archives are in the programs. Both are made by the build, and nothing is in the list that they do not name.
"""

import datetime
import hashlib
import json
import os
import sys
import uuid
from urllib.parse import quote


def digest(path):
    with open(path, "rb") as file:
        return [{"alg": "SHA-256", "content": hashlib.sha256(file.read()).hexdigest()}]


def component(package, version, source, source_version, use, files):
    name, _, architecture = package.partition(":")
    where = {"arch": architecture or "all", "distro": "debian-12"}
    if (source, source_version) != (name, version):
        where["upstream"] = f"{source}@{source_version}"
    purl = f"pkg:deb/debian/{quote(name)}@{quote(version)}?" + "&".join(f"{key}={quote(value, safe='')}" for key, value in sorted(where.items()))
    made = {"type": "library", "bom-ref": f"{package}@{version}", "name": name, "version": version, "purl": purl}
    if files:
        made["components"] = [{"type": "file", "name": name, "hashes": hashes} for name, hashes in sorted(files.items())]
    made["properties"] = [{"name": "use", "value": use}, {"name": "source package", "value": source},
                          {"name": "source version", "value": source_version}]
    return made


def main():
    architecture, version, folder, compiled_in = sys.argv[1:]
    libraries = {}
    with open(os.path.join(folder, "lib/packages"), encoding="utf-8") as lines:
        for line in lines:
            file, *package = line.split()
            libraries.setdefault(tuple(package), {})[f"lib/{file}"] = digest(os.path.join(folder, "lib", file))
    with open(compiled_in, encoding="utf-8") as lines:
        compiled = sorted({tuple(line.split()) for line in lines})
    components = [component(*package, "library in the folder and the image", files) for package, files in sorted(libraries.items())]
    components += [component(*package, "compiled into the programs", {}) for package in compiled]

    program = {"type": "application", "bom-ref": "mcp-session-bridge", "name": "mcp-session-bridge", "version": version,
               "components": [{"type": "file", "name": f"bin/{name}", "hashes": digest(os.path.join(folder, "bin", name))}
                              for name in ("mcp-bridged", "mcp-nc")]}
    made = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": program,
                         "properties": [{"name": "architecture", "value": architecture}]},
            "components": components,
            "dependencies": [{"ref": "mcp-session-bridge", "dependsOn": [one["bom-ref"] for one in components]}]}
    bill["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(bill, sort_keys=True)).urn
    json.dump(bill, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
