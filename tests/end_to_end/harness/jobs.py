"""Jobs, as a client of the socket submits and collects them."""

from .case import Case
from .frames import request
from .waiting import DEADLINE, eventually

WAIT = int(DEADLINE * 1000)


class Jobs(Case):
    def ask_bridge(self, method, params=None, client=None, id="b"):
        """The whole response, over a connection of its own unless one is given."""
        asker = client or self.client()
        response = asker.request("bridge/" + method, params or {}, id)
        if client is None:
            asker.close()
        return response

    def result_of(self, method, params=None, client=None):
        response = self.ask_bridge(method, params, client)
        self.assertIn("result", response)
        return response["result"]

    def submit(self, tool, arguments=None, client=None, **more):
        params = {"method": "tools/call", "params": {"name": tool, "arguments": arguments or {}}, **more}
        return self.result_of("submit", params, client)

    def job(self, tool, arguments=None, client=None, **more):
        return self.submit(tool, arguments, client, **more)["job"]

    def ended(self, **more):
        """One that has ended when the next one begins."""
        job = self.job("echo", {"message": "x"}, **more)
        self.assertEqual(self.collect(job)["state"], "completed")
        return job

    def collect(self, job, client=None, wait=WAIT, **more):
        return self.result_of("collect", {"job": job, "waitMs": wait, **more}, client)

    def start_collect(self, client, job, id="c", wait=WAIT, **more):
        client.send(request("bridge/collect", {"job": job, "waitMs": wait, **more}, id))

    def listed(self, **params):
        return self.result_of("jobs", params)["jobs"]

    def refused(self, method, params, code=-32602):
        return self.assert_error(self.ask_bridge(method, params), code, id="b")

    def unknown(self, method, job):
        error = self.refused(method, {"job": job})
        self.assertEqual(error["data"], {"source": "bridge", "kind": "job"})

    def state_is(self, job, state):
        return eventually(lambda: next((one for one in self.listed() if (one["job"], one["state"]) == (job, state)), None),
                          f"{job} is {state}")
