"""A client that answers the upstream's questions, or does not."""

import asyncio

from . import frames


class Answering:
    """Has a `reader`, `choices`, `ledger`, `name`, and sends by `send_answer`."""

    def answer_questions(self):
        while self.reader.asked:
            raw, question = self.reader.asked.pop()
            how = self.choices.pick({"answer": 8, "refuse": 1, "ignore": 1, "twice": 1})
            if how != "ignore":
                task = asyncio.ensure_future(self._answer(raw, question, how, self.choices.pause(0.1)))
                self.world.tasks.add(task)
                task.add_done_callback(self.world.tasks.discard)

    async def _answer(self, raw, question, how, pause):
        await asyncio.sleep(pause)
        if self.left:
            return
        if how == "refuse":
            await self.send_answer(frames.answer(raw, error={"code": -32601, "message": "not I"}))
            return
        for attempt in range(2 if how == "twice" else 1):
            marker = f"{self.name}/{question.number}/{attempt}"
            question.given[marker] = self.name
            await self.send_answer(frames.answer(raw, {"marker": marker}))
