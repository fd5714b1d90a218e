"""The rows of the table that are no curve: [(what, figure)]"""

import os
import socket
import statistics
import sys
import time

import setting

NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "$N"}}


def microseconds(figure):
    return f"{figure:,.0f} µs" if figure >= 100 else f"{figure:.1f} µs"


def open_connection(bench):
    others = bench.others()
    times = bench.latency(7, 200, [bench.direct, bench.bridge, bench.bare, *others.values()])
    for name, one in zip(["directly", "mcp-bridged", "a bare libcurl relay", *others], times):
        added = "" if name == "directly" else f", {one['p50'] - times[0]['p50']:,.0f} µs added"
        yield (f"a call on an open connection, {name}", f"p50 {microseconds(one['p50'])}, p99 {microseconds(one['p99'])}{added}")
    # Else it is the kernel that chooses who shares a CPU, which is most of the time of a call: to wake a process on another one.
    places = {"all on one CPU": (0, 0)}
    if len(os.sched_getaffinity(0)) > 1:
        places["the server on a CPU of its own"] = (0, 1)
    for place, cpus in places.items():
        with bench.on_cpus(*cpus):
            direct, bridge, bare = (one["p50"] for one in bench.latency(7, 200, [bench.direct, bench.bridge, bench.bare]))
        yield (f"a call on an open connection, {place}",
               f"p50 {microseconds(bridge)}, directly {microseconds(direct)}: {bridge / direct:.2f} times; {bridge / bare:.2f} of the bare relay")
    with bench.on_cpus(*cpus):
        connect = bench.calls("connect", 1 if bench.short else 5, 20 if bench.short else 300, bench.bridge)[0]["p50"]
    yield (f"connect, one call, close, {place}", f"{microseconds(connect)}, {connect / bridge:.2f} times a call on an open connection")


def over_http(bench):
    """A local server that others call over HTTP."""
    peers = bench.offered()
    for name, one in zip(peers, bench.latency(5, 100, peers.values())):
        yield (f"a call over HTTP of a local server, {name}", f"p50 {microseconds(one['p50'])}, p99 {microseconds(one['p99'])}")


def one_process(bench):
    """What an agent starts for one call: a process that ends."""
    client = [bench.program("client/mcp-nc"), "-s", bench.socket, "call", "--raw", "echo", '{"message":"hi"}']
    yield ("the whole process of one call, mcp-nc call --raw", f"{bench.process(client):.2f} ms")
    if bench.node:
        yield from companions(bench)


def companions(bench):
    """The other command lines, and mcp-nc, before the same local server, which each of them keeps running."""
    os.environ["MCP_NC"], os.environ["MCP_BRIDGED"] = bench.program("client/mcp-nc"), bench.program("daemon/mcp-bridged")
    os.environ["PATH"] = os.path.dirname(bench.node) + ":" + os.environ["PATH"]
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "companions"))
    import tools  # pylint: disable=import-outside-toplevel
    kinds = [tools.McpNc, tools.Mcpdo, tools.Mcpc, tools.Mcporter]
    for kind in kinds:
        tool = kind()
        bench.stack.callback(tool.close)
        tool.connect()
        first = tool.call("echo", message="hi")
        if first.code != 0:
            yield (f"the whole process of one call, {tool.name}", f"could not be measured: exit {first.code}")
            continue
        times = [tool.call("echo", message="hi").seconds * 1000 for _ in range(1 if bench.short else 7)]
        yield (f"the whole process of one call, {tool.name} @server", f"{statistics.median(times):.1f} ms")


def at_rest(bench):
    """Memory with nothing, with clients, with a full ring; and what an idle daemon costs."""
    _, url = bench.start_upstream(name="tests/support/demo-upstream")
    daemon, path = bench.start_daemon("rest.sock", "--url", url)
    bench.calls("latency", 1, 1, "echo", 24, f"unix:{path}")
    yield ("memory, one session (RSS, of it anonymous)", f"{setting.memory(daemon, 'VmRSS'):.1f} MiB, {setting.memory(daemon, 'RssAnon'):.1f} MiB")
    before = setting.memory(daemon, "RssAnon")
    clients = []
    for _ in range(100):
        clients.append(socket.socket(socket.AF_UNIX))
        clients[-1].connect(path)
    probe = setting.StatusProbe(path)
    probe.newest()
    yield ("memory, 100 clients more (anonymous)", f"{setting.memory(daemon, 'RssAnon') - before:.2f} MiB more")
    for client in clients:
        client.close()
    before = setting.memory(daemon, "RssAnon")
    setting.emit(url, {**NOTIFICATION, "params": {"level": "info", "data": "x" * 1000}}, 1000)
    bench.wait_for(lambda: probe.newest() >= 1000)
    yield ("memory, a full ring of 1,000 of 1 kB (anonymous)", f"{setting.memory(daemon, 'RssAnon') - before:.2f} MiB more")
    time.sleep(0.2 if bench.short else 35)  # the deadlines that were set while opening have lapsed, the last of them after 30 s
    seconds = 0.5 if bench.short else 20
    cost, woken = setting.processor_time(daemon), setting.wake_ups(daemon)
    time.sleep(seconds)
    yield (f"{seconds} s of idleness, one client connected",
           f"{(setting.processor_time(daemon) - cost) * 1000:.2f} ms of CPU, {setting.wake_ups(daemon) - woken} wake-ups")
