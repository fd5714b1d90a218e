"""A call as it is typed: its arguments, finding the tool, completion."""

import contextlib
import re
import subprocess


from .aspects import aspect, of, says

ROW = "arguments by the tool's schema"


@aspect(ROW, "numbers")
def numbers(tool):
    return tool.call("get-sum", a=2, b=40).has("is 42")


@aspect(ROW, "a text of digits stays a text")
def text_of_digits(tool):
    return tool.call("echo", message=42).has("Echo: 42")


@aspect(ROW, "a list without JSON")
def lists(tool):
    files = [f"paths{tool.sign}{tool.home}/files/{name}.txt" for name in ("one", "two")]
    tool.connect("fs")
    commas = f"{files[0]},{tool.home}/files/two.txt"
    return any(tool.run(*tool.call_words("read_multiple_files", *typed, server="fs")).has("content of one.*content of two")
               for typed in (files, [commas]))


@aspect(ROW, "a text from a file")
def text_from_file(tool):
    sign = of(tool, mcp_nc=":@", mcpdo=":=@", mcpc=":=@", mcporter="=@")
    return says(tool, tool.call_words("echo", f"message{sign}{tool.home}/files/one.txt"), "content of one")


def refused_here(output, pattern):
    """Told by the tool itself: the server's own words were not needed."""
    return output.code != 0 and output.has(pattern) and not output.has("MCP error|Echo:")


@aspect(ROW, "a missing one told before anything is sent")
def missing(tool):
    return refused_here(tool.call("echo"), "message")


@aspect(ROW, "a wrong type told before")
def wrong_type(tool):
    return refused_here(tool.call("get-sum", a="x", b=1), r"\ba\b")


@aspect(ROW, "an unknown name told before")
def unknown_name(tool):
    return refused_here(tool.call("echo", messag="x", message="y"), r"messag\b")

ROW = "finding a tool"


def page(tool):
    words = of(tool, mcp_nc=["@ev", "tools", "get-sum"], mcpc=["@ev", "tools-get", "get-sum"], mcporter=["list", "ev.get-sum"])
    return tool.run(tool.name, *words)


@aspect(ROW, "one tool in full", r"tools/(get|show)")
def one_tool(tool):
    shown = page(tool)
    return shown.has("Returns the sum of two numbers.*First number|First number") and not shown.has("tiny MCP logo")


@aspect(ROW, "a call to copy that works as it stands", r"tools/(get|show)")
def call_to_copy(tool):
    example = re.search(rf"{tool.name} [^`\n]*get-sum[^`\n]*1[^`\n]*", page(tool).text)
    return bool(example) and tool.shell(example[0]).has("sum of 1 and 1")


@aspect(ROW, "signatures of a line each")
def signatures(tool):
    words = of(tool, mcp_nc=["@ev", "tools", "--brief"], mcpdo=["@ev", "tools/list"], mcpc=["@ev", "tools-list"],
               mcporter=["list", "ev", "--brief"])
    return says(tool, [tool.name, *words], r"get-sum[^\n]*a\W[^\n]*b\W")


@aspect(ROW, "a search in tools", r"\bgrep\b|search")
def search_tools(tool):
    words = of(tool, mcp_nc=["@ev", "grep"], mcpc=["@ev", "grep"])
    return says(tool, [tool.name, *words, "annotated"], "get-annotated-message")


@aspect(ROW, "in resources and prompts", r"\bgrep\b|search")
def search_others(tool):
    words = of(tool, mcp_nc=["@ev", "grep"], mcpc=["@ev", "grep", "--resources", "--prompts"])
    return says(tool, [tool.name, *words, "architecture"], "architecture.md") and \
        says(tool, [tool.name, *words, "completable"], "completable-prompt")


@aspect(ROW, "in all servers at once", r"\bgrep\b|search|all servers")
def search_everywhere(tool):
    if tool.name == "mcp-nc":
        return says(tool, ["mcp-nc", "grep", "--all", "annotated"], "get-annotated-message")
    words = of(tool, mcpc=["grep", "annotated"])
    return says(tool, [tool.name, *words], "get-annotated-message")


ROW = "did you mean"


@aspect(ROW, "tools")
def mean_tool(tool):
    return tool.call("ech", message="x").has(r"(?i)(did you mean|corrected)[^\n]*\becho\b")


@aspect(ROW, "verbs")
def mean_verb(tool):
    words = of(tool, mcp_nc=["@ev", "cal"], mcpdo=["@ev", "tools/cal"], mcpc=["@ev", "tools-cal"], mcporter=["configg"])
    return says(tool, [tool.name, *words], r"(?i)did you mean[^\n]*(call|config)\b")


@aspect(ROW, "options")
def mean_option(tool):
    words = of(tool, mcp_nc=["@ev", "tools", "--breif"], mcpdo=["--formt", "json", "servers/list"],
               mcpc=["@ev", "tools-list", "--ful"], mcporter=["call", "ev.echo", "--outpt", "json"])
    return says(tool, [tool.name, *words], r"(?i)did you mean[^\n]*--")


ROW = "completion in the shell"
SHELLS = r"\b(bash|zsh|fish)\b|completion script|shell completion"


def bash_completes(tool, *words):
    script = of(tool, mcp_nc=True) and tool.document("mcp-nc.bash")
    line = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mcp_nc; echo "${COMPREPLY[@]}"'
    return tool.run("bash", "-c", line, script, "mcp-nc", *words).out.split()


@aspect(ROW, "verbs and options", SHELLS)
def completes_verbs(tool):
    return "tools" in bash_completes(tool, "too")


@aspect(ROW, "the server's tools and their arguments", SHELLS)
def completes_tools(tool):
    with of(tool, mcp_nc=socket_of)(tool) as socket:
        named = bash_completes(tool, "-s", socket, "call", "get-s")
        values = bash_completes(tool, "-s", socket, "call", "get-structured-content", "loc")
    return any("get-sum" in name for name in named) and any("location" in name for name in values)


@contextlib.contextmanager
def socket_of(tool):
    """A daemon at a socket that is named, for what does not take @NAME."""
    socket = str(tool.home / "s")
    with subprocess.Popen([tool.daemon_program, "--socket", socket, "--log-level", "error", "--", *tool.everything],
                          env=tool.environment) as daemon:
        tool.run("mcp-nc", "-s", socket, "--wait", "20s", "tools", "--names")
        yield socket
        daemon.terminate()
