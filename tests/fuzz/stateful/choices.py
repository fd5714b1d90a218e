"""What is random, by seed: every actor draws from a sequence of its own, so that one more draw of one changes no other."""

import random


class Choices(random.Random):
    def __init__(self, *path):
        self.path = "/".join(str(part) for part in path)
        super().__init__(self.path)

    def of(self, *path):
        """The sequence of a part: it depends on the path alone, not on what was drawn before."""
        return Choices(self.path, *path)

    def chance(self, probability):
        return self.random() < probability

    def pick(self, weights):
        """A key of {key: weight}."""
        return self.choices(list(weights), list(weights.values()))[0]

    def pause(self, most):
        """Seconds, mostly none: what happens at the same instant collides most."""
        return 0 if self.chance(0.5) else self.random() * most
