"""OAuth 2.1 client credentials towards the upstream (BEHAVIOUR, "Authorization: OAuth client credentials")."""

import base64
import json
import time

from authorization import ProtectedServer
from harness import Case, call, eventually, main, text_of
from harness.certificates import Authority

SECRET = "s3cret +&%:hush"


class OAuthCase(Case):
    def setUp(self):
        super().setUp()
        self.server = self.protected()

    def protected(self, **how):
        server = ProtectedServer(**how)
        self.addCleanup(server.stop)
        return server

    def oauth(self, *options, key=None, **how):
        """A daemon that has the client's secret, or a key."""
        own = ["--oauth-private-key", key] if key else ["--oauth-client-secret-file", self.write("secret", SECRET + "\n")]
        wait = () if "--connect-wait" in options else ("--connect-wait", "3s")
        return self.start_daemon(self.server, "--oauth-client-id", self.server.client_id, *own, *wait, *options, **how)

    def with_token_url(self, *options, **how):
        return self.oauth("--oauth-token-url", self.server.token_url, *options, **how)

    def echoed(self, client, text="x", id=1):
        self.assertEqual(text_of(client.call("echo", {"message": text}, id)), text)

    def error_of_a_call(self, *parts):
        """A call's error, with these parts in its message."""
        answer = self.client().call("echo", {"message": "x"})
        error = self.assert_error(answer, -32000, 1, "auth", "no")
        for part in parts:
            self.assertIn(part, error["message"])
        return error

    def forms(self):
        return [form for form, _ in self.server.requests]

    def tearDown(self):
        daemon = self.default_daemon
        try:
            if daemon and daemon.running():
                shown = daemon.stderr() + repr(daemon.status())
                for secret in [SECRET, *self.server.tokens]:
                    self.assertNotIn(secret, shown)
        finally:
            super().tearDown()


class Authentication(OAuthCase):
    def test_basic_with_the_parts_encoded_and_the_resource_named(self):
        self.with_token_url()
        client = self.client()
        for id in range(3):
            self.echoed(client, id=id)
        self.assertEqual(self.forms(), [{"grant_type": "client_credentials", "resource": self.server.url}])
        self.assertEqual(self.server.refused, [])
        self.assertEqual(self.server.fetched, [])

    def test_a_key_signs_an_assertion_for_the_issuer(self):
        self.server.publish()
        self.oauth(key=Authority(self.folder).key)
        self.echoed(self.client())
        form = self.forms()[0]
        self.assertEqual(form["client_assertion_type"], "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        claims = json.loads(base64.urlsafe_b64decode(form["client_assertion"].split(".")[1] + "=="))
        self.assertEqual((claims["iss"], claims["sub"], claims["aud"]),
                         (self.server.client_id, self.server.client_id, self.server.issuer))

    def test_a_wrong_secret_is_the_endpoints_error_and_is_not_shown(self):
        self.server.client_secret = "another"
        self.with_token_url()
        error = self.error_of_a_call("invalid_client", self.server.token_url)
        self.assertNotIn(SECRET, repr(error))
        self.assertNotIn("Basic ", repr(error).replace("Basic ***", ""))

    def test_a_server_over_tls_with_the_ca_of_the_upstream(self):
        authority = Authority(self.folder)
        self.server = self.protected(certificate=authority.sign("right"))
        self.server.publish()
        self.oauth("--ca-file", authority.path)
        self.echoed(self.client())

    def test_an_untrusted_server_gets_no_secret(self):
        tls = self.protected(certificate=Authority(self.folder).sign("stranger"))
        self.oauth("--oauth-token-url", tls.token_url)
        self.error_of_a_call(tls.token_url)
        self.assertEqual(tls.requests, [])


class Discovery(OAuthCase):
    def test_none_at_all_says_what_can_be_done(self):
        self.oauth()
        self.error_of_a_call("--oauth-token-url")

    def test_a_server_that_wants_no_token_is_asked_for_none(self):
        self.server = self.upstream()
        self.server.client_id, self.server.tokens = "me", {}
        self.oauth()
        self.echoed(self.client())
        self.assertNotIn("authorization", self.server.log("tools/call")[0]["headers"])


class Scope(OAuthCase):
    def test_a_403_is_stepped_up_once_with_its_scope(self):
        self.with_token_url("--oauth-scope", "usual")
        client = self.client()
        self.echoed(client)
        self.assertEqual(text_of(client.call("admin")), "admin")
        self.assertEqual([set(form["scope"].split()) for form in self.forms()], [{"usual"}, {"usual", "admin"}])
        self.echoed(client)
        self.assertEqual(text_of(client.call("admin")), "admin")
        self.assertEqual(len(self.server.requests), 2)


class Life(OAuthCase):
    def test_a_token_is_replaced_ahead_of_its_expiry(self):
        self.server.expires_in = 3
        self.with_token_url()
        client = self.client()
        eventually(lambda: self.echoed(client) or len(self.server.requests) >= 3, "three tokens")
        self.assertEqual(self.server.refused, [])

    def test_nothing_is_fetched_while_nobody_asks(self):
        self.server.expires_in = 1
        self.with_token_url("--keepalive", "0")
        client = self.client()
        self.echoed(client)
        before = len(self.server.requests)
        time.sleep(2.5)  # a time in which nothing shall happen
        self.assertEqual(len(self.server.requests), before)
        self.echoed(client)
        self.assertEqual(self.server.refused, [])

    def test_a_revoked_token_costs_one_fetch_and_each_call_is_carried_out_once(self):
        self.with_token_url()
        client = self.client()
        self.echoed(client)
        self.server.calls.clear()
        self.server.revoke_all()
        client.send(*[call("echo", {"message": str(id)}, id) for id in range(30)])
        for message in client.lines(30):
            self.assertEqual(text_of(message), str(message["id"]))
        self.assertEqual(len(self.server.requests), 2)
        self.assertEqual(sorted(int(arguments["message"]) for _, _, arguments in self.server.called("tools/call")),
                         list(range(30)))


class Start(OAuthCase):
    def refused(self, *options):
        return self.start_daemon(self.server, *options, ready=False).fails(78)

    def test_what_is_missing_or_wrong_is_78(self):
        secret = self.write("secret", SECRET)
        self.assertIn("--oauth-private-key", self.refused("--oauth-grant", "client_credentials", "--oauth-client-id", "me"))
        self.assertIn("--oauth-client-id", self.refused("--oauth-client-secret-file", secret))
        self.assertIn("nowhere", self.refused("--oauth-client-id", "me", "--oauth-client-secret-file", "nowhere"))
        self.assertNotIn(SECRET, self.refused("--oauth-client-id", "me", "--oauth-private-key", secret))
        self.assertIn("https", self.refused("--oauth-client-id", "me", "--oauth-client-secret-file", secret,
                                            "--oauth-token-url", "http://192.0.2.1/token"))


if __name__ == "__main__":
    main()
