"""What a terminal shows of the bytes that programs of this project write: characters with a tone, in rows."""

import re
import unicodedata

# ECMA-48, "Select graphic rendition": those that mcp-nc uses.
_TONES = {"": "plain", "0": "plain", "1": "strong", "2": "faint", "31": "bad", "32": "good", "33": "warning"}
_TOKEN = re.compile(r"\x1b\[(?P<parameters>[?\d;]*)(?P<final>[A-Za-z])|(?P<control>[\r\n\b])|(?P<text>[^\x1b\r\n\b]+)")


class Screen:
    """Grows downwards without a bound."""

    def __init__(self, columns):
        self.columns = columns
        self.rows = [[]]
        self.row = self.column = 0
        self.tone = "plain"
        self._rest = ""

    def feed(self, text):
        text = self._rest + text
        at = 0
        while at < len(text):
            token = _TOKEN.match(text, at)
            if token is None:
                break  # the beginning of a sequence: its end comes later
            self._take(token)
            at = token.end()
        self._rest = text[at:]

    def _take(self, token):
        if token["text"]:
            for character in token["text"]:
                self._put(character)
        elif token["control"] == "\n":
            self._go(self.row + 1, self.column)
        elif token["control"] == "\r":
            self.column = 0
        elif token["control"] == "\b":
            self.column = max(0, self.column - 1)
        else:
            self._sequence(token["parameters"], token["final"])

    def _sequence(self, parameters, final):
        if final == "m":
            for parameter in parameters.split(";"):
                self.tone = _TONES[parameter]
        elif final == "H" and parameters == "":
            self._go(0, 0)
        elif final == "K" and parameters in ("", "0"):
            del self.rows[self.row][self.column:]
        elif final == "J":
            if parameters in ("", "0"):
                del self.rows[self.row][self.column:], self.rows[self.row + 1:]
            else:
                self.rows = [[] for _ in range(self.row + 1)]
        else:
            assert final in "hl", f"a sequence that is not known: {parameters}{final}"

    def _go(self, row, column):
        self.row, self.column = row, column
        while len(self.rows) <= row:
            self.rows.append([])

    def _put(self, character):
        width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if self.column + width > self.columns:
            self._go(self.row + 1, 0)
        cells = self.rows[self.row]
        cells.extend([(" ", "plain")] * (self.column - len(cells)))
        cells[self.column:self.column + width] = [(character, self.tone)] + [("", self.tone)] * (width - 1)
        self.column += width

    def texts(self):
        return ["".join(character for character, _ in cells).rstrip() for cells in self.rows]
