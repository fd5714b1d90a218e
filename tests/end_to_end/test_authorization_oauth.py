"""OAuth 2.1 client credentials towards the upstream (BEHAVIOUR, "Authorization")."""

import time

from authorization import ProtectedServer, make_certificate, make_key, verified_claims
from harness import Case, call, eventually, main, text_of

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

    def signed(self, algorithm, audience, *options):
        key = make_key(self.path("key"), algorithm)
        self.oauth(*options, key=key)
        self.echoed(self.client())
        form = self.forms()[0]
        self.assertEqual(form["client_assertion_type"], "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        claims = verified_claims(form["client_assertion"], key + ".pub", algorithm, self.path("jwt"))
        self.assertEqual((claims["iss"], claims["sub"], claims["aud"]), (self.server.client_id,) * 2 + (audience,))
        self.assertEqual(claims["exp"] - claims["iat"], 60)
        self.assertLess(abs(claims["iat"] - time.time()), 60)
        self.assertTrue(claims["jti"])

    def test_a_p256_key_signs_es256_for_the_issuer(self):
        self.server.publish()
        self.signed("ES256", self.server.issuer)

    def test_without_metadata_the_audience_is_the_token_url(self):
        self.signed("ES256", self.server.token_url, "--oauth-token-url", self.server.token_url)

    def test_a_wrong_secret_is_the_endpoints_error_and_is_not_shown(self):
        self.server.client_secret = "another"
        self.with_token_url()
        error = self.error_of_a_call("invalid_client", self.server.token_url)
        self.assertNotIn(SECRET, repr(error))
        self.assertNotIn("Basic ", repr(error).replace("Basic ***", ""))

    def test_a_server_over_tls_with_the_ca_of_the_upstream(self):
        certificate = make_certificate(self.path("cert"))
        self.server = self.protected(certificate=certificate)
        self.server.publish()
        self.oauth("--ca-file", certificate)
        self.echoed(self.client())

    def test_an_untrusted_server_gets_no_secret(self):
        tls = self.protected(certificate=make_certificate(self.path("cert")))
        self.oauth("--oauth-token-url", tls.token_url)
        self.error_of_a_call(tls.token_url)
        self.assertEqual(tls.requests, [])


class Discovery(OAuthCase):
    def found(self, *paths):
        self.oauth()
        self.echoed(self.client())
        self.assertEqual(self.server.fetched, list(paths))
        self.assertEqual(len(self.server.requests), 1)

    def test_through_the_challenge(self):
        self.server.publish(resource_place="/elsewhere")
        self.server.challenge = f'Basic realm="x, y", Bearer resource_metadata="{self.server.origin}/elsewhere"'
        self.found("/elsewhere", "/.well-known/oauth-authorization-server/as")

    def test_another_resource_is_refused(self):
        self.server.publish(resource=self.server.origin + "/other")
        self.oauth()
        self.error_of_a_call("another resource")
        self.assertEqual(self.server.requests, [])

    def test_another_issuer_is_refused(self):
        self.server.publish(issuer=self.server.issuer + "/")
        self.oauth()
        self.error_of_a_call("issuer")
        self.assertEqual(self.server.requests, [])

    def test_nothing_in_the_clear_beyond_this_machine(self):
        self.server.publish()
        self.server.documents["/.well-known/oauth-authorization-server/as"]["token_endpoint"] = "http://192.0.2.1/token"
        self.oauth()
        self.error_of_a_call("https")

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
    def asked(self, *options):
        self.oauth(*options)
        self.echoed(self.client())
        return self.forms()[0].get("scope")

    def test_then_the_challenge(self):
        self.server.publish(scopes_supported=["c"])
        self.server.challenge = 'Bearer scope="b"'
        self.assertEqual(self.asked(), "b")

    def test_a_403_is_stepped_up_once_with_its_scope(self):
        self.with_token_url("--oauth-scope", "usual")
        client = self.client()
        self.echoed(client)
        self.assertEqual(text_of(client.call("admin")), "admin")
        self.assertEqual([set(form["scope"].split()) for form in self.forms()], [{"usual"}, {"usual", "admin"}])
        self.echoed(client)
        self.assertEqual(text_of(client.call("admin")), "admin")
        self.assertEqual(len(self.server.requests), 2)

    def test_a_step_that_is_not_granted_ends_with_the_403_and_harms_nobody(self):
        self.with_token_url()
        client = self.client()
        self.echoed(client)
        self.server.refusal = (400, {"error": "invalid_scope"})
        for _ in range(3):
            error = self.assert_error(client.call("admin"), -32001, 1, "auth")
            self.assertEqual(error["data"]["status"], 403)
            self.assertIn("insufficient_scope", error["data"]["wwwAuthenticate"])
            self.echoed(client)
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

    def test_a_server_that_takes_no_token_is_the_clients_error_and_no_storm(self):
        self.with_token_url()
        client = self.client()
        self.echoed(client)
        self.server.accepts = False
        begin = time.monotonic()
        for _ in range(3):
            error = self.assert_error(client.call("echo", {"message": "x"}), -32001, 1, "auth", "no")
            self.assertEqual(error["data"]["status"], 401)
        self.assertLessEqual(len(self.server.requests), 3 + time.monotonic() - begin)
        self.server.accepts = True
        self.echoed(client)

    def test_while_the_endpoint_hangs_the_daemon_does_everything_else(self):
        self.server.delay = 2
        daemon = self.with_token_url("--connect-wait", "30s")
        client = self.client()
        client.send(call("echo", {"message": "x"}))
        eventually(lambda: self.server.requests, "a token request")
        begin = time.monotonic()
        daemon.status()
        self.assertLess(time.monotonic() - begin, 1.5)
        self.assertEqual(text_of(client.answer()), "x")


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
