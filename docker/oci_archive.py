#!/usr/bin/env python3
"""Writes the image as an OCI archive, without an engine: one index for all architectures.

    oci_archive.py VERSION ARCHIVE ARCH=FOLDER...

FOLDER: the self-contained folder of that architecture. There is nothing else in the image but what Dockerfile puts beside
it; user, environment, health check and entry point are read from its last stage.
"""

import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
PLACE = "opt/mcp-session-bridge"
SECOND = 1_000_000_000


def json_bytes(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def seconds(text):
    return int(re.fullmatch(r"(\d+)s", text)[1]) * SECOND


def settings():
    """What the last stage of the Dockerfile says of a container."""
    with open(os.path.join(HERE, "Dockerfile"), encoding="utf-8") as file:
        stage = file.read().rsplit("\nFROM ", 1)[1]
    health = re.search(r"^HEALTHCHECK --interval=(\S+) --timeout=(\S+) --start-period=(\S+) CMD (.*)$", stage, re.M)
    return {
        "User": re.search(r"^USER (\S+)$", stage, re.M)[1],
        "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", *re.findall(r"^ENV (\S+)$", stage, re.M)],
        "Entrypoint": json.loads(re.search(r"^ENTRYPOINT (.*)$", stage, re.M)[1]),
        # Docker's own; others ignore it.
        "Healthcheck": {"Test": ["CMD", *json.loads(health[4])], "Interval": seconds(health[1]), "Timeout": seconds(health[2]),
                        "StartPeriod": seconds(health[3])},
    }


class Layer:
    def __init__(self):
        self.bytes = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.bytes, mode="w", format=tarfile.USTAR_FORMAT)

    def add(self, path, mode, kind=tarfile.REGTYPE, data=b"", owner=0, target=""):
        entry = tarfile.TarInfo(path)
        entry.mode, entry.type, entry.mtime, entry.uid, entry.gid, entry.linkname = mode, kind, EPOCH, owner, owner, target
        entry.size = len(data)
        self.tar.addfile(entry, io.BytesIO(data))

    def add_folder(self, path, mode=0o755, owner=0):
        self.add(path, mode, tarfile.DIRTYPE, owner=owner)

    def finish(self):
        self.tar.close()
        return self.bytes.getvalue()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def layer_of(folder, user):
    layer = Layer()
    for path in ("etc", "opt", "run", "usr", "usr/bin", "var", "var/lib"):
        layer.add_folder(path)
    layer.add_folder("tmp", 0o1777)
    # A volume that is empty takes the owner of these.
    for path in ("run/mcp-bridged", "var/lib/mcp-bridged"):
        layer.add_folder(path, owner=user)
    layer.add("etc/passwd", 0o644, data=f"root:x:0:0::/:/nologin\nmcp-bridged:x:{user}:{user}::/:/nologin\n".encode())
    layer.add("etc/group", 0o644, data=f"root:x:0:\nmcp-bridged:x:{user}:\n".encode())
    for top, folders, names in os.walk(folder):
        folders.sort()
        place = os.path.normpath(os.path.join(PLACE, os.path.relpath(top, folder)))
        layer.add_folder(place)
        for name in sorted(names):
            path = os.path.join(top, name)
            layer.add(f"{place}/{name}", os.stat(path).st_mode & 0o777, data=read(path))
    layer.add("usr/bin/mcp-nc", 0o755, data=read(os.path.join(folder, "bin/mcp-nc")))
    layer.add("usr/bin/mcp-bridged", 0o777, tarfile.SYMTYPE, target=f"/{PLACE}/bin/mcp-bridged")
    return layer.finish()


def packed_bytes(data):
    """In its header gzip says who made it (RFC 1952, section 2.3.1), and each Python something else: this says nothing."""
    packed = gzip.compress(data, 9, mtime=0)
    return packed[:8] + b"\0\xff" + packed[10:]


class Blobs:
    def __init__(self):
        self.blobs = {}

    def add(self, kind, data, **more):
        digest = hashlib.sha256(data).hexdigest()
        self.blobs[digest] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data), **more}


def main():
    version, archive, *images = sys.argv[1:]
    container = settings()
    user = int(container["User"].split(":")[0])
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH))
    labels = {"org.opencontainers.image.title": "mcp-session-bridge", "org.opencontainers.image.version": version}
    blobs, manifests = Blobs(), []
    for image in images:
        architecture, folder = image.split("=", 1)
        layer = layer_of(folder, user)
        platform = {"architecture": architecture, "os": "linux", **({"variant": "v8"} if architecture == "arm64" else {})}
        config = blobs.add("config.v1+json", json_bytes({
            "created": created, **platform, "config": {**container, "Labels": labels},
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
            "history": [{"created": created, "created_by": "docker/oci_archive.py"}]}))
        packed = blobs.add("layer.v1.tar+gzip", packed_bytes(layer))
        manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": [packed]}
        manifests.append(blobs.add("manifest.v1+json", json_bytes(manifest), platform=platform))
    kind = "application/vnd.oci.image.index.v1+json"
    # The name that the pages have.
    index = blobs.add("index.v1+json", json_bytes({"schemaVersion": 2, "mediaType": kind, "manifests": manifests, "annotations": labels}),
                      annotations={"org.opencontainers.image.ref.name": "latest", "io.containerd.image.name": "docker.io/library/mcp-session-bridge:latest"})
    all_of_it = Layer()
    all_of_it.add("oci-layout", 0o644, data=json_bytes({"imageLayoutVersion": "1.0.0"}))
    all_of_it.add("index.json", 0o644, data=json_bytes({"schemaVersion": 2, "mediaType": kind, "manifests": [index]}))
    for path in ("blobs", "blobs/sha256"):
        all_of_it.add_folder(path)
    for digest, data in sorted(blobs.blobs.items()):
        all_of_it.add(f"blobs/sha256/{digest}", 0o644, data=data)
    with open(archive, "wb") as file:
        file.write(all_of_it.finish())


if __name__ == "__main__":
    main()
