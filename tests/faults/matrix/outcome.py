"""What a client is told."""


class Result:
    """The tool's answer."""

    def __init__(self, text=None):
        self.text = text

    def check(self, case, answer, argument):
        case.assertIn("result", answer, answer)
        case.assertEqual(answer["result"]["content"][0]["text"], self.text or argument)


class Error:
    """The bridge's error: its kind, whether the request was delivered, and what else stands in `data`."""

    def __init__(self, kind, delivered, says="", **data):
        self.kind, self.delivered, self.says, self.data = kind, delivered, says, data
        self.code = -32001 if "status" in data else -32000

    def check(self, case, answer, _argument):
        error = case.assert_error(answer, self.code, answer["id"], self.kind, self.delivered)
        case.assertIn(self.says, error["message"])
        for name, value in self.data.items():
            case.assertEqual(error["data"].get(name), value, answer)
