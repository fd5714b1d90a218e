"""The HTTP frontend before a local server: the same clients, the same scripts, another upstream."""

from harness import main
from test_face_sdk import HERE, Everything


class EverythingLocally(Everything):
    def start(self):
        everything = HERE / "node_modules" / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
        return self.face_before(None, "--", self.node, everything, "stdio")


del Everything  # it has its own file

if __name__ == "__main__":
    main()
