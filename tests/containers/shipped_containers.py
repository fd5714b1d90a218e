"""The containers of docker/*.yaml as an engine would start them: command, environment, and the files that are mounted."""

import dataclasses
import os
import re

import yaml

from harness.binaries import ROOT

DOCKER = ROOT / "docker"
# Which files are used together. A new one needs a row.
USES = (
    ("compose.yaml",),
    ("compose.yaml", "compose.handler.yaml"),
    ("compose.yaml", "compose.metrics.yaml"),
    ("compose.yaml", "compose.pipes.yaml"),
    ("compose.yaml", "compose.policy.yaml"),
    ("compose.yaml", "compose.handler.yaml", "compose.metrics.yaml", "compose.pipes.yaml", "compose.policy.yaml"),
    ("kubernetes.yaml",),
    ("broker.yaml",),
)
# What a user of compose sets.
VARIABLES = {"MCP_SERVER_URL": "https://example.com/mcp", "HANDLER_COMMAND": "handle-it"}
# The stage of the Dockerfile that is each image of ours.
STAGES = {"mcp-session-bridge": "bridge", "mcp-session-bridge-agent": "agent"}


@dataclasses.dataclass
class Container:
    name: str
    image: str
    command: list      # the whole of it, with the image's entrypoint
    environment: dict  # with the image's
    mounts: dict       # by place: the files of it by name; a text for a single file
    probes: list       # commands that an engine runs in it


def of_image(image):
    """Entrypoint, environment and health check of an image; nothing of one that is not ours."""
    if image not in STAGES:
        return [], {}, []
    text = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
    stage = re.search(rf"(?ms)^FROM \S+ AS {STAGES[image]}$(.*?)(?=^FROM |\Z)", text)[1]
    entrypoint = re.search(r"(?m)^ENTRYPOINT (\[.*\])$", stage)
    probe = re.search(r"(?m)^HEALTHCHECK .*CMD (\[.*\])$", stage)
    return (yaml.safe_load(entrypoint[1]) if entrypoint else [], dict(re.findall(r"(?m)^ENV (\w+)=(.*)$", stage)),
            [yaml.safe_load(probe[1])] if probe else [])


def containers(use):
    return of_compose(use) if use[0].startswith("compose") else of_kubernetes(*use)


def of_compose(names):
    services = {}
    for name in names:
        for service, given in _read(name, VARIABLES)[0]["services"].items():
            known = services.setdefault(service, {"environment": {}, "volumes": []})
            known.update({key: value for key, value in given.items() if key not in known or key in ("image", "command", "entrypoint")})
            known["environment"].update(given.get("environment", {}))
            known["volumes"] = known["volumes"] + given.get("volumes", [])
    for service, given in services.items():
        entrypoint, environment, probes = of_image(given["image"])
        mounts = {}
        for volume in given["volumes"]:
            source, place = volume.split(":")[:2]
            mounts[place] = (DOCKER / source).read_text(encoding="utf-8") if source.startswith("./") else {}
        yield Container(service, given["image"], [*given.get("entrypoint", entrypoint), *given.get("command", [])],
                        {**environment, **given["environment"]}, mounts, probes)


def of_kubernetes(name):
    documents = _read(name)
    files = {(one["kind"], one["metadata"]["name"]): one.get("stringData") or one.get("data")
             for one in documents if one["kind"] in ("Secret", "ConfigMap")}
    for pod in (one["spec"]["template"]["spec"] for one in documents if one["kind"] == "Deployment"):
        volumes = {}
        for one in pod["volumes"]:
            # A secret that another program makes has no files here: None.
            volumes[one["name"]] = files.get(("Secret", one["secret"]["secretName"])) if "secret" in one else \
                files[("ConfigMap", one["configMap"]["name"])] if "configMap" in one else {}
        for one in [*pod.get("initContainers", []), *pod["containers"]]:
            entrypoint, environment, _ = of_image(one["image"])
            yield Container(one["name"], one["image"], [*one.get("command", entrypoint), *one.get("args", [])],
                            {**environment, **{variable["name"]: variable["value"] for variable in one.get("env", [])}},
                            {mount["mountPath"]: volumes[mount["name"]] for mount in one["volumeMounts"]},
                            [probe["exec"]["command"] for key, probe in one.items() if key.endswith("Probe") and "exec" in probe])


def _read(name, variables=()):
    def value(match):
        assert match[2] == "-" or match[1] in variables, f"{name}: VARIABLES has no {match[1]}"
        return variables[match[1]] if match[1] in variables else match[3]

    def put_in(node):
        if isinstance(node, dict):
            return {key: put_in(one) for key, one in node.items()}
        if isinstance(node, list):
            return [put_in(one) for one in node]
        return re.sub(r"\$\{(\w+):([?-])([^}]*)\}", value, node) if isinstance(node, str) else node

    documents = yaml.safe_load_all((DOCKER / name).read_text(encoding="utf-8"))
    return [put_in(one) if variables else one for one in documents]


def mapped(root, text):
    """A path of the container, alone or as an option's value, below the folder that stands for its root."""
    return re.sub(r"^(--[\w.-]+=)?/", lambda match: f"{match[1] or ''}{root}/", text)


def lay_out(root, container, absent):
    """Writes what is mounted; `absent`: the files of what is not in the manifest."""
    for place, files in container.mounts.items():
        path = mapped(root, place)
        os.makedirs(os.path.dirname(path) if isinstance(files, str) else path, exist_ok=True)
        for name, text in {"": files}.items() if isinstance(files, str) else (absent if files is None else files).items():
            with open(os.path.join(path, name) if name else path, "w", encoding="utf-8",
                      opener=lambda file, flags: os.open(file, flags, 0o600)) as file:
                file.write(text)
