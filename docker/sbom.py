#!/usr/bin/env python3
"""Writes what is in the files of a release for one architecture, as CycloneDX.

    sbom.py ARCH VERSION FOLDER DEBIAN=COMPILED_IN...

FOLDER/lib/packages: the files beside the programs, each with the package it is from. COMPILED_IN: the packages whose
headers and archives are in the programs made in that Debian: first the one that the folder was made in, then those with a
package of their own. All are made by the build, and nothing is in the list that they do not name.
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


def component(debian, package, version, source, source_version, use, files):
    name, _, architecture = package.partition(":")
    where = {"arch": architecture or "all", "distro": f"debian-{debian}"}
    if (source, source_version) != (name, version):
        where["upstream"] = f"{source}@{source_version}"
    purl = f"pkg:deb/debian/{quote(name)}@{quote(version)}?" + "&".join(f"{key}={quote(value, safe='')}" for key, value in sorted(where.items()))
    made = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if files:
        made["components"] = [{"type": "file", "name": name, "hashes": hashes} for name, hashes in sorted(files.items())]
    made["properties"] = [{"name": "use", "value": use}, {"name": "source package", "value": source},
                          {"name": "source version", "value": source_version}]
    return made


def main():
    architecture, version, folder, *made_in = sys.argv[1:]
    made_in = [each.split("=", 1) for each in made_in]
    libraries = {}
    with open(os.path.join(folder, "lib/packages"), encoding="utf-8") as lines:
        for line in lines:
            file, *package = line.split()
            libraries.setdefault(tuple(package), {})[file] = digest(os.path.join(folder, file))
    oldest = made_in[0][0]
    components = [component(oldest, *package, "file in the folder and the image", files) for package, files in sorted(libraries.items())]
    for debian, path in made_in:
        use = "compiled into the programs" if debian == oldest else f"compiled into the programs of the package for Debian {debian}"
        with open(path, encoding="utf-8") as lines:
            compiled = sorted({tuple(line.split()) for line in lines})
        known = {one["purl"] for one in components}
        components += [one for one in (component(debian, *package, use, {}) for package in compiled) if one["purl"] not in known]

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
