"""Every client against every server: the table of daemon/ERAS.md is what is run, cell by cell.

What a cell says is the name of a check below; a row or a cell that has none fails."""

import itertools
import re

from harness import eventually
from harness.eras import Eras
from harness.modern_tools import RIGHT, WRONG
from harness.pages import text_of_page
from harness.parallel import main_parallel

UPDATED = "notifications/resources/updated"
TOOLS = "notifications/tools/list_changed"
MODES = {"legacy server": "legacy", "modern server": "modern", "server of both": "dual"}
# (how the client comes, whether the server is a child)
WAYS = {"over the socket": ("socket", False), "over the HTTP frontend": ("face", False), "to a child": ("socket", True),
        "over the HTTP frontend to a child": ("face", True)}


def table():
    """{(client, server): {row: cell}}"""
    lines = text_of_page("daemon/ERAS.md").splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("| | "))
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in itertools.takewhile(lambda line: line.startswith("|"), lines[first:])]
    columns = [tuple(head.split(", ")) for head in rows[0][1:]]
    return {column: {row[0]: row[at + 1] for row in rows[2:]} for at, column in enumerate(columns)}


class Cell:
    """One cell: its server, its daemon, its clients."""

    def __init__(self, case, client, server, way, says):
        self.case, self.era, self.mode = case, client.split()[0], MODES[server]
        self.carrier, self.stdio = WAYS[way]
        self.server = case.server(self.mode)
        options = [word for option in re.findall(r"`(--[^`]+)`", says) for word in option.split()]
        self.daemon = case.before(self.server, *options, stdio=self.stdio, face=self.carrier == "face")
        self.client = self.another()
        spoken = self.era if self.mode == "dual" else self.mode
        case.assertEqual((case.era_of_upstream(), case.default_daemon.status()["upstream"]["eras"]), (spoken, spoken))

    def another(self):
        return self.case.speaker(self.era, self.carrier)

    # Tools.

    def calls(self):
        self.case.assertEqual(self.client.call("echo", {"message": "é \U0001F600"})[0], "é \U0001F600")

    def tools_as_they_are(self):
        self.case.assertEqual(self.client.tools(), RIGHT + WRONG)
        self.calls()

    def tools_with_resulttype_and_caching_hints(self):
        self.tools_as_they_are()  # a modern client judges each result

    def tools_with_mirrored_headers(self):
        self.case.assertEqual(self.client.tools(), RIGHT + (WRONG if self.stdio else []))
        self.calls()
        self.client.call("regional", {"region": " ü ", "count": 42, "deep": {"flag": False}, "note": None})
        call = self.server.received("tools/call")[-1]
        if not self.stdio:
            self.case.assertEqual((call.header("Mcp-Param-Count"), call.header("Mcp-Param-Flag")), ("42", "false"))

    # What comes while a call runs.

    def progress_to_its_caller(self):
        other = self.another()
        text, before = self.client.call("slow", {"steps": 3}, token="mine")
        self.case.assertEqual(text, "done after 3 steps")
        self.case.assertEqual([one["params"]["progress"] for one in before if one["method"].endswith("progress")], [1, 2, 3])
        self.case.assertEqual({one["params"]["progressToken"] for one in before if one["method"].endswith("progress")}, {"mine"})
        self.case.assertEqual([one for one in other.call("echo", {"message": "x"})[1] if one["method"].endswith("progress")], [])

    def _levels(self, level, count=0):
        _, before = self.client.call("log", level=level)
        if self.stdio and (self.client.era, self.carrier) == ("legacy", "face"):
            before = self.client.gathered(count)  # a child does not say what it is about: the session's stream has it
        return [one["params"]["level"] for one in before if one["method"] == "notifications/message"]

    def log_messages_from_the_level_that_was_set(self):
        self.case.assertEqual(self._levels("error", 4), ["error", "critical", "alert", "emergency"])
        self.case.assertEqual(self._levels("alert", 2), ["alert", "emergency"])

    def log_messages_from_the_requests_level(self):
        self.log_messages_from_the_level_that_was_set()
        self.case.assertEqual(self._levels(None), [])

    # What comes while nobody is connected.

    def _leaves(self):
        self.client.subscribe("demo://one")
        for method, params in ((TOOLS, {}), (UPDATED, {"uri": "demo://one"})):
            self.server.wait_reaches(method, params)
        self.client.close()
        self.case.others(0)

    def _emits(self, method, params):
        newest = self.daemon.status()["ring"]["newest"]
        self.server.emit(method, params)
        self.case.newest(newest + 1)
        came = self.another().gathered(1)
        self.case.assertEqual((came[0]["method"], came[0]["params"].get("uri")), (method, params.get("uri")))

    def list_changed_without_a_client_from_the_ring_to_the_next_client(self):
        self._leaves()
        self._emits(TOOLS, {})

    def resource_updates_without_a_client_from_the_ring_to_the_next_client(self):
        self._leaves()
        self._emits(UPDATED, {"uri": "demo://one"})

    list_changed_without_a_client_from_the_ring_to_the_next_listen = \
        list_changed_without_a_client_from_the_ring_to_the_next_client
    resource_updates_without_a_client_from_the_ring_to_the_next_listen = \
        resource_updates_without_a_client_from_the_ring_to_the_next_client

    # Questions.

    def _asks(self, kind, how, words):
        for rounds in (1, 3):
            response, asked = self.client.ask([kind], rounds)
            self.case.assertIn("result", response)
            self.case.assertEqual(response["result"]["content"][0]["text"].count(words), rounds)
            self.case.assertEqual(asked, f"{rounds} {how}")

    def elicitation_by_a_request(self):
        self._asks("elicitation", "requests", "Ada")

    def elicitation_by_input_required(self):
        self._asks("elicitation", "rounds", "Ada")

    def sampling_by_a_request(self):
        self._asks("sampling", "requests", "Paris")

    def sampling_by_input_required(self):
        self._asks("sampling", "rounds", "Paris")

    def roots_by_a_request(self):
        self._asks("roots", "requests", "file:///here")

    def roots_by_input_required(self):
        self._asks("roots", "rounds", "file:///here")

    # Ends.

    def _held(self):
        handle = self.client.begin("hold", {"key": "a"})
        self.server.wait_held("a")
        return handle

    def cancellation_the_server_is_told(self):
        self.client.cancel(self._held())
        self.server.wait_cancelled("said tools/call")

    def cancellation_the_stream_is_closed(self):
        self.client.cancel(self._held())
        self.server.wait_cancelled("tools/call")  # a child has no stream: it was told, and judges the same

    def a_client_that_dies_in_the_middle_carried_out_with___orphans_finish(self):
        self._held()
        self.client.die()
        self.another().call("echo", {"message": "fence"})
        self.case.assertEqual(self.server.cancelled, [])
        self.server.release("a")
        eventually(lambda: self.daemon.status()["requests"]["inFlight"] == 0, "its end")
        self.case.assertEqual(self.server.cancelled, [])

    def a_client_that_dies_in_the_middle_the_server_is_told(self):
        self._held()
        self.client.die()
        self.server.wait_cancelled("said tools/call")

    def a_client_that_dies_in_the_middle_the_stream_is_closed(self):
        self._held()
        self.client.die()
        self.server.wait_cancelled("tools/call")

    # A server that is another one.

    def _restarts(self):
        self.client.subscribe("demo://one")
        self.server.wait_reaches(UPDATED, {"uri": "demo://one"})
        self.client.close()
        self.case.others(0)
        self.server.restart()
        if self.stdio:
            eventually(lambda: self.server.starts == 2, "another child")
        another = self.another()
        self.case.assertEqual(another.call("echo", {"message": "again"})[0], "again")
        self.server.wait_reaches(UPDATED, {"uri": "demo://one"})
        self.daemon.status_when(lambda status: status["ring"]["newest"] >= 2, "what counts as changed")
        came = {one["method"] for one in self._all(another)}
        self.case.assertLessEqual({TOOLS, UPDATED}, came)

    def _all(self, client):
        found = []
        while {TOOLS, UPDATED} - {one["method"] for one in found}:
            found += client.gathered(1) if client.era == "legacy" else client.gathered(2)
        return found

    def a_lost_session_or_a_restarted_server_opened_again_lists_count_as_changed(self):
        self._restarts()
        self.case.assertEqual(self.daemon.status()["upstream"]["reopened"], 1)

    def a_lost_session_or_a_restarted_server_listens_again_lists_count_as_changed(self):
        self._restarts()


def check_of(row, cell):
    words = re.sub(r"[^a-z_ ]", "", f"{row} {cell}".lower().replace("--", "__"))
    return getattr(Cell, "_".join(words.split()), None)


class Table(Eras):
    def test_each_cell_has_a_check(self):
        missing = [f"{row}: {cell}" for rows in table().values() for row, cell in rows.items() if not check_of(row, cell)]
        self.assertEqual(missing, [])
        self.assertEqual({len(rows) for rows in table().values()}, {11})
        self.assertEqual(len(table()), 6)

    def tearDown(self):
        pass  # each cell ends its own

    def runs(self, client, server, way):
        for row, cell in table()[client, server].items():
            with self.subTest(f"{client}, {server}, {way}: {row}: {cell}"):
                super().setUp()
                try:
                    check_of(row, cell)(Cell(self, client, server, way, cell))
                finally:
                    self.end_processes_and_servers()


def add(client, server, way):
    def test(self):
        self.runs(client, server, way)
    setattr(Table, f"test_{client} {server} {way}".replace(" ", "_"), test)


for column in table():
    for each in WAYS:
        add(*column, each)

if __name__ == "__main__":
    main_parallel(3)
