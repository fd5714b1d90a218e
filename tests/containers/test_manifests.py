"""compose.yaml, kubernetes.yaml and the Dockerfile, as far as they can be judged without an engine. run.sh
beside this runs them."""

import json
import os
import pathlib
import re
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
from harness import Case, main  # noqa: E402
from harness.binaries import ROOT, binary  # noqa: E402
from harness.certificates import Authority, key_of  # noqa: E402
from harness.metrics import promtool  # noqa: E402

try:
    import yaml
    from shipped_containers import STAGES, USES, containers, lay_out, mapped
except ImportError:
    yaml, USES = None, ()

DOCKER = ROOT / "docker"
# What the daemon may warn of: only containers that mount the volume reach its pipes.
WARNINGS = ("warning: --pipes-mode 1733: every user of this machine can use the server",)


@unittest.skipUnless(yaml, "there is no yaml for Python")
class Containers(Case):
    """Of each file, alone and together: what is started in a container is read by the program."""

    def setUp(self):
        super().setUp()
        certificate = Authority(self.folder).sign("broker")
        # Of the secret that kubectl makes.
        self.absent = {name: pathlib.Path(path).read_text(encoding="utf-8")
                       for name, path in (("tls.crt", certificate), ("tls.key", key_of(certificate)))}

    def test_every_file_has_a_row(self):
        self.assertEqual({path.name for path in DOCKER.glob("*.y*ml")}, {name for use in USES for name in use})

    def started(self):
        """(what, container, root) of each container; the root has what is mounted, and nothing else."""
        for number, use in enumerate(USES):
            for container in containers(use):
                root = self.path(f"{number}-{container.name}")
                lay_out(root, container, self.absent)
                for name, value in container.environment.items():
                    self.assertIsInstance(value, str, f"{use}: {name} needs quotes")
                    container.environment[name] = mapped(root, value)
                yield f"{' '.join(use)}: {container.name}", container, root

    def test_the_daemon_takes_command_and_environment(self):
        tried = set()
        for what, container, root in self.started():
            if container.command[:1] != ["mcp-bridged"]:
                continue
            tried.add(what.split(":")[0])
            with self.subTest(what):
                self.assertTrue(os.path.isdir(os.path.dirname(container.environment["MCP_SOCKET_PATH"])))
                said = self.run_tool([binary("MCP_BRIDGED"), "--check", *(mapped(root, word) for word in container.command[1:])],
                                     environment=container.environment)
                self.assertTrue(said[0].startswith("all options are valid\n"), said[0])
                # A variable that names no option is a warning, too.
                warnings = [line for line in said[1].splitlines() if not any(one in line for one in WARNINGS)]
                self.assertEqual(warnings, [])
        self.assertEqual(tried, {" ".join(use) for use in USES})

    def test_the_client_takes_its_environment_and_what_the_probes_ask(self):
        tried = set()
        for what, container, _ in self.started():
            for words in [*container.probes, *([["mcp-nc", "status"]] if container.image in STAGES else [])]:
                tried.add(what)
                with self.subTest(what, words=words):
                    self.assertEqual(words[0], "mcp-nc")
                    # There is no daemon; a wrong option would be 2.
                    self.run_tool([binary("MCP_NC"), *words[1:]], code=3, environment=container.environment)
        self.assertLessEqual({"compose.yaml: agent", "kubernetes.yaml: bridge"}, tried)

    def test_other_programs_find_the_files_that_they_are_given(self):
        tried = set()
        for what, container, root in self.started():
            for word in container.command if container.command[:1] != ["mcp-bridged"] else ():
                if mapped(root, word) != word:
                    tried.add(what)
                    path = pathlib.Path(mapped(root, word).rpartition("=")[2])
                    self.assertTrue(path.is_file(), f"{what}: {word}")
                    for named in yaml.safe_load(path.read_text(encoding="utf-8")).get("rule_files", ()):
                        self.assertTrue((path.parent / named).is_file(), f"{what}: {named}")
        self.assertIn("compose.yaml compose.metrics.yaml: prometheus", tried)


def unknown(given, taken, path=""):
    """The paths in `given` that are not so in `taken`."""
    if isinstance(given, dict) and isinstance(taken, dict):
        for key, value in given.items():
            yield from unknown(value, taken.get(key), f"{path}.{key}")
    elif isinstance(given, list) and isinstance(taken, list) and len(given) == len(taken):
        for number, value in enumerate(given):
            yield from unknown(value, taken[number], f"{path}[{number}]")
    elif given != taken:
        yield path


@unittest.skipUnless(yaml, "there is no yaml for Python")
class Manifests(Case):
    def setUp(self):
        super().setUp()
        self.compose = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))
        documents = {one["kind"]: one for one in yaml.safe_load_all((DOCKER / "kubernetes.yaml").read_text(encoding="utf-8"))}
        self.deployment = documents["Deployment"]
        self.policy = documents["ConfigMap"]["data"]["policy.json"]
        self.pod = self.deployment["spec"]["template"]["spec"]
        self.sidecar, = self.pod["initContainers"]

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is not installed")
    def test_kubectl_knows_every_field(self):
        # It reads the objects by their types, without a cluster, and prints what it knows of those with pods.
        version = json.loads(self.run_tool(["kubectl", "version", "--client", "--output=json"])[0])["clientVersion"]
        if (int(version["major"]), int(re.match(r"\d+", version["minor"])[0])) < (1, 29):
            self.skipTest("this kubectl knows no native sidecars")
        for name in ("kubernetes.yaml", "broker.yaml"):
            with self.subTest(name):
                out, err = self.run_tool(["kubectl", "set", "image", "--local", "--dry-run=client", "--output=json",
                                          f"--filename={DOCKER / name}", "*=another"], code=None)
                self.assertEqual([line for line in err.splitlines() if line and "does not have a pod template" not in line], [])
                deployment, = (one for one in yaml.safe_load_all((DOCKER / name).read_text(encoding="utf-8")) if one["kind"] == "Deployment")
                pod = deployment["spec"]["template"]["spec"]
                for container in [*pod.get("initContainers", ()), *pod["containers"]]:
                    container["image"] = "another"
                self.assertEqual(list(unknown(deployment, json.loads(out))), [])

    def test_the_sidecar_is_one_and_its_life_does_not_hang_on_the_upstream(self):
        self.assertEqual(self.sidecar["restartPolicy"], "Always")
        for probe in ("startupProbe", "livenessProbe"):
            self.assertNotIn("--ready", self.sidecar[probe]["exec"]["command"])
        self.assertIn("--ready", self.sidecar["readinessProbe"]["exec"]["command"])

    def test_every_container_is_confined(self):
        self.assertTrue(self.pod["securityContext"]["runAsNonRoot"])
        for container in [self.sidecar, *self.pod["containers"]]:
            context = container["securityContext"]
            self.assertTrue(context["readOnlyRootFilesystem"], container["name"])
            self.assertFalse(context["allowPrivilegeEscalation"], container["name"])
            self.assertEqual(context["capabilities"]["drop"], ["ALL"])
            self.assertIn("memory", container["resources"]["limits"])
        bridge = self.compose["services"]["bridge"]
        self.assertEqual((bridge["read_only"], bridge["cap_drop"]), (True, ["ALL"]))

    def test_the_group_that_may_connect_is_one_and_the_same(self):
        variables = {one["name"]: one["value"] for one in self.sidecar["env"]}
        self.assertEqual(variables["MCP_BRIDGE_SOCKET_GROUP"], str(self.pod["securityContext"]["fsGroup"]))
        services = self.compose["services"]
        group = services["bridge"]["environment"]["MCP_BRIDGE_SOCKET_GROUP"]
        self.assertEqual([services[name]["group_add"] for name in ("bridge", "agent")], [[group], [group]])

    def test_the_agent_trusts_the_bridges_user(self):
        text = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
        users = re.findall(r"^USER (\d+):\d+$", text, re.M)
        self.assertEqual(len(set(users)), 2)
        of_pod = {one["name"]: one["value"] for one in self.pod["containers"][0]["env"]}
        self.assertEqual(of_pod["MCP_NC_PEER"], users[-1])
        self.assertEqual(self.compose["services"]["agent"]["environment"]["MCP_NC_PEER"], users[-1])

    def test_every_volume_that_is_mounted_is_there(self):
        names = {volume["name"] for volume in self.pod["volumes"]}
        for container in [self.sidecar, *self.pod["containers"]]:
            self.assertLessEqual({mount["name"] for mount in container["volumeMounts"]}, names)

    def test_the_broker_s_parts_belong_together(self):
        documents = {one["kind"]: one for one in yaml.safe_load_all((DOCKER / "broker.yaml").read_text(encoding="utf-8"))}
        pod = documents["Deployment"]["spec"]["template"]
        bridge, = pod["spec"]["containers"]
        self.assertEqual(documents["Service"]["spec"]["selector"], pod["metadata"]["labels"])
        self.assertFalse(documents["Service"]["metadata"]["name"].startswith("mcp-bridge"))
        self.assertEqual({one["name"] for one in bridge["volumeMounts"]}, {one["name"] for one in pod["spec"]["volumes"]})
        variables = {one["name"]: one["value"] for one in bridge["env"]}
        self.assertEqual(variables["MCP_BRIDGE_HTTP"].rpartition(":")[2], str(bridge["ports"][0]["containerPort"]))
        self.assertEqual(variables["MCP_BRIDGE_HTTP_ALLOW_HOST"], documents["Service"]["metadata"]["name"])

    def test_the_pipes_of_compose_are_those_that_mcp_nc_looks_for(self):
        added = self.added("pipes")
        path = added["MCP_BRIDGE_PIPES"]
        self.assertEqual(path, "/run/mcp-bridged/mcp.sock.pipes")
        volumes = yaml.safe_load((DOCKER / "compose.pipes.yaml").read_text(encoding="utf-8"))["services"]["agent"]["volumes"]
        self.assertEqual([one + ":ro" for one in volumes], self.compose["services"]["agent"]["volumes"])

    def test_the_handler_is_confined_and_runs_its_command(self):
        text = (DOCKER / "compose.handler.yaml").read_text(encoding="utf-8")
        handler = yaml.safe_load(text)["services"]["handler"]
        agent = self.compose["services"]["agent"]
        for name in ("image", "group_add", "volumes", "depends_on", "init"):
            self.assertEqual(handler[name], agent[name], name)
        self.assertEqual(handler["environment"], agent["environment"] | {"HOME": "/tmp"})
        self.assertEqual((handler["read_only"], handler["cap_drop"]), (True, ["ALL"]))
        *words, command = handler["command"]
        self.assertTrue(command.startswith("${HANDLER_COMMAND:?"))
        shown = re.search(r"HANDLER_COMMAND='(.*)'", text)[1]
        server, daemon = self.bridge("--handshake", "eager")
        server.emit({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "demo://a"}})
        path = str(pathlib.Path(binary("MCP_NC")).parent)
        handler = self.run_process("handler", [binary("MCP_NC"), *words[1:], shown.replace("review uri=", "echo message=")],
                                   environment={"MCP_SOCKET_PATH": daemon.socket_path, "PATH": path + ":/usr/bin:/bin"})
        self.untaken(0)
        self.assertEqual(json.loads(server.log("tools/call", wait=1)[0]["body"])["params"]["arguments"], {"message": "demo://a"})
        handler.signal(15)
        self.assertEqual(handler.wait(), 0)

    def added(self, name):
        """The variables that another file adds to those of compose.yaml."""
        added = yaml.safe_load((DOCKER / f"compose.{name}.yaml").read_text(encoding="utf-8"))
        return added["services"]["bridge"]["environment"]

    def test_the_policies_name_the_bridges_user_and_the_sandboxs(self):
        users = re.findall(r"^USER (\d+):\d+$", (DOCKER / "Dockerfile").read_text(encoding="utf-8"), re.M)
        self.assertEqual(len(users), 2)
        shown = (ROOT / "systemd" / "policy.json").read_text(encoding="utf-8").replace('"mcp-bridged"', "0")
        of_compose = (DOCKER / "policy.json").read_text(encoding="utf-8")
        for text in (of_compose, self.policy, shown):
            path = self.write("policy.json", text)
            daemon = self.start_daemon("http://127.0.0.1:9/mcp", "--policy", path, "--check", socket=None, ready=False)
            self.assertEqual(daemon.wait(), 0, daemon.stderr())
        for text in (of_compose, self.policy):
            self.assertEqual(set(re.findall(r'"uid": (\d+)', text)), set(users))

    def test_what_is_scraped_is_where_the_daemon_listens(self):
        port = {one["name"]: one["value"] for one in self.sidecar["env"]}["MCP_BRIDGE_METRICS_LISTEN"].rpartition(":")[2]
        monitor = yaml.safe_load((DOCKER / "prometheus" / "podmonitor.yaml").read_text(encoding="utf-8"))["spec"]
        self.assertEqual([(one["name"], str(one["containerPort"])) for one in self.sidecar["ports"]],
                         [(monitor["podMetricsEndpoints"][0]["port"], port)])
        self.assertEqual(monitor["selector"], {"matchLabels": self.deployment["spec"]["template"]["metadata"]["labels"]})
        path = DOCKER / "prometheus" / "prometheus.yaml"
        scraped = yaml.safe_load(path.read_text(encoding="utf-8"))
        port = self.added("metrics")["MCP_BRIDGE_METRICS_LISTEN"].rpartition(":")[2]
        self.assertEqual(scraped["scrape_configs"][0]["static_configs"], [{"targets": [f"bridge:{port}"]}])
        self.assertEqual(scraped["rule_files"], ["rules.yaml"])
        self.assertIn(promtool("check", "config", str(path)), ("", None))

    def test_compose_s_health_check_is_that_of_the_image(self):
        text = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
        options, command = re.search(r"^HEALTHCHECK (.*) CMD (\[.*\])$", text, re.M).groups()
        own = {key.replace("-", "_"): value for key, value in re.findall(r"--([\w-]+)=(\S+)", options)}
        self.assertEqual(self.compose["services"]["bridge"]["healthcheck"], {"test": ["CMD", *json.loads(command)], **own})

    def test_the_health_check_needs_no_shell_and_no_upstream(self):
        text = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
        command = json.loads(re.search(r"^HEALTHCHECK .*CMD (\[.*\])$", text, re.M).group(1))
        self.assertEqual(command[0], "mcp-nc")
        self.assertNotIn("--ready", command)
        self.assertTrue(re.search(r"^USER \d+:\d+$", text, re.M))
        # What is built when no stage is named, as docker/README.md has it.
        self.assertEqual(re.findall(r"^FROM .* AS (\w+)$", text, re.M)[-1], "bridge")
        self.bridge()
        self.run_nc(*command[1:])
        self.default_daemon.stop()
        self.start_daemon("http://127.0.0.1:9/mcp", "--connect-wait", "100ms")
        self.run_nc("request", "tools/list", code=4)
        self.run_nc(*command[1:])

    def test_the_documents_begin_with_both_drawings_and_name_the_folder(self):
        dockerfile = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
        readme = (DOCKER / "README.md").read_text(encoding="utf-8").split("# In containers\n", 1)[1]
        for text, begins in ((dockerfile, "#"), (readme, "```")):
            drawing = text.strip().split("MCP server", 1)[0]
            self.assertTrue(drawing.startswith(begins))
            self.assertIn("in the agent's own container", drawing)
            self.assertIn("as a sidecar", drawing)
            self.assertIn("COPY --from=mcp-session-bridge /opt/mcp-session-bridge /opt/mcp-session-bridge", text)
        # The program is linked for the place that it is copied to.
        linked = re.search(r"-DMCP_BRIDGE_FOLDER=(\S+)", dockerfile)[1]
        self.assertEqual({linked}, set(re.findall(r"COPY --from=build (/opt/\S+) (?=/opt)", dockerfile)))


if __name__ == "__main__":
    main()
