"""kubernetes.yaml for podman, which knows no native sidecars: the sidecar becomes a container like the agent,
the group of fsGroup is given by hand, empty volumes are folders below FOLDER prepared as fsGroup does it (podman gives
its own to whichever container mounts it first), the secret's text is written as Base64, and no ports are declared, which
podman refuses in the host's network. Everything else is as it stands.

    as_podman_pod.py FILE URL FOLDER
"""

import base64
import os
import sys

import yaml


def main(path, url, folder):
    with open(path, encoding="utf-8") as file:
        documents = list(yaml.safe_load_all(file))
    deployment = next(document for document in documents if document["kind"] == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    sidecars = pod.pop("initContainers")
    for sidecar in sidecars:
        assert sidecar.pop("restartPolicy") == "Always", "a sidecar that ends"
        for variable in sidecar["env"]:
            if variable["name"] == "MCP_SERVER_URL":
                variable["value"] = url
    pod["containers"] = sidecars + pod["containers"]
    for container in pod["containers"]:
        container.pop("ports", None)
    for secret in (document for document in documents if document["kind"] == "Secret"):
        text = secret.pop("stringData")
        secret["data"] = {name: base64.b64encode(value.encode()).decode() for name, value in text.items()}
    group = pod["securityContext"].pop("fsGroup")
    pod["securityContext"]["supplementalGroups"] = [group]
    for volume in pod["volumes"]:
        if volume.pop("emptyDir", None) is not None:
            place = os.path.join(folder, volume["name"])
            os.mkdir(place)
            os.chown(place, 0, group)
            os.chmod(place, 0o2775)
            volume["hostPath"] = {"path": place, "type": "Directory"}
    yaml.safe_dump_all(documents, sys.stdout)


main(*sys.argv[1:])
