"""What a server can be asked."""


from .aspects import aspect, of, says

ROW = "what a server can be asked"


@aspect(ROW, "who it is")
def server(tool):
    words = of(tool, mcp_nc=["@ev", "server"], mcpdo=["@ev", "connections/show"], mcpc=["@ev"], mcporter=["list", "ev", "--verbose"])
    return says(tool, [tool.name, *words], "2.0.0") and says(tool, [tool.name, *words], "Everything Server")


@aspect(ROW, "ping", r"\bping\b")
def ping(tool):
    return says(tool, [tool.name, *of(tool, mcp_nc=["@ev", "ping"], mcpc=["@ev", "ping"])], r"\d ?ms")


@aspect(ROW, "resources")
def resources(tool):
    words = of(tool, mcp_nc=["@ev", "read"], mcpdo=["@ev", "resources/read"], mcpc=["@ev", "resources-read"], mcporter=["resource", "ev"])
    return says(tool, [tool.name, *words, "demo://resource/static/document/architecture.md"], "Architecture")


@aspect(ROW, "templates", r"\btemplates\b|resource template")
def templates(tool):
    words = of(tool, mcp_nc=["@ev", "templates"], mcpdo=["@ev", "resources/templates/list"], mcpc=["@ev", "resources-templates-list"])
    return says(tool, [tool.name, *words], "resourceId")


@aspect(ROW, "prompts", r"prompts?[-/ ](list|get)")
def prompts(tool):
    words = of(tool, mcp_nc=["@ev", "prompt", "args-prompt", "city=Paris"],
               mcpdo=["@ev", "prompts/get", "args-prompt", "--prompt-args", "city=Paris"],
               mcpc=["@ev", "prompts-get", "args-prompt", "city:=Paris"])
    return says(tool, [tool.name, *words], "Paris")


@aspect(ROW, "completion of an argument", "complet(e|ions?) .*argument|prompts/complete")
def complete(tool):
    words = of(tool, mcp_nc=["@ev", "complete", "prompt", "completable-prompt", "department", "E"],
               mcpdo=["@ev", "prompts/complete", "--complete-ref-type", "ref/prompt", "--complete-ref", "completable-prompt",
                      "--complete-arg-name", "department", "--complete-arg-value", "E"])
    return says(tool, [tool.name, *words], "Engineering")


@aspect(ROW, "log level", r"setLevel|set-level")
def log_level(tool):
    words = of(tool, mcp_nc=["@ev", "log-level"], mcpdo=["@ev", "logging/setLevel"], mcpc=["@ev", "logging-set-level"])
    return tool.run(tool.name, *words, "debug").code == 0


@aspect(ROW, "subscriptions", "subscribe")
def subscribe(tool):
    words = of(tool, mcp_nc=["@ev", "subscribe"], mcpdo=["@ev", "resources/subscribe"], mcpc=["@ev", "resources-subscribe"])
    # Some stay and show what changes.
    said = tool.run(tool.name, *words, "demo://resource/static/document/features.md", deadline=10)
    return said.code == 0 or said.has("^Subscribed")


@aspect(ROW, "tasks of the protocol, by verbs", r"tasks[-/]")
def protocol_tasks(tool):
    words = of(tool, mcp_nc=["@ev", "tasks"], mcpdo=["@ev", "tasks/list"], mcpc=["@ev", "tasks-list"])
    return tool.run(tool.name, *words).code == 0


@aspect(ROW, "roots told to it", r"roots/set|--roots")
def roots(tool):
    if tool.name == "mcp-nc":
        (tool.home / "rooted").mkdir(exist_ok=True)
        return says(tool, tool.call_words("get-roots-list", "--root", tool.home / "rooted"), "rooted")
    words = of(tool, mcpdo=["@ev", "roots/set", "--roots-json", '[{"uri":"file:///tmp/rooted"}]'])
    tool.run(tool.name, *words)
    return says(tool, tool.call_words("get-roots-list"), "rooted")


@aspect(ROW, "skills of a server", "skills/")
def skills(tool):
    # None of the servers here has any.
    return tool.run(tool.name, *of(tool, mcp_nc=["skills", "--help"], mcpdo=["skills/list", "--help"])).code == 0


@aspect(ROW, "any other request", r"\brequest METHOD")
def any_request(tool):
    return says(tool, [tool.name, *of(tool, mcp_nc=["@ev", "request", "resources/templates/list"])], "resourceTemplates")
