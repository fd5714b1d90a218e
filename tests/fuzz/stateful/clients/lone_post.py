"""POSTs without a session, each a client of its own."""

import asyncio

from .face_posts import FacePosts


class LonePosts(FacePosts):
    async def live(self):
        await self.use_grant()
        for _ in range(self.choices.pick({1: 3, 5: 2})):
            await asyncio.sleep(self.choices.pause(0.1))
            await self.revoke_grant()
            how = self.choices.pick({"one": 6, "array": 1, "breaks": 1})
            made = [self.new_call() for _ in range(3 if how == "array" else 1)]
            self.post_in_background(made, self.choices.choice(["json", "stream", "both"]),
                                    breaks=self.choices.random() * 0.1 if how == "breaks" else None)
        await self.posts_done()
        self.is_over()
