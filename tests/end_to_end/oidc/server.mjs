// An authorization server that people use in earnest, with its own pages, in front of nothing: the tests' MCP server
// takes its tokens. Usage: server.mjs RESOURCE; prints its issuer.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const resource = process.argv[2];
const listener = createServer();
listener.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${listener.address().port}`;
  const provider = new Provider(issuer, {
    scopes: ['openid', 'offline_access', 'mcp'],
    rotateRefreshToken: true,
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: 'mcp', audience: resource, accessTokenTTL: 5, accessTokenFormat: 'opaque' }),
      },
    },
    issueRefreshToken: () => true,
  });
  listener.on('request', provider.callback());
  console.log(issuer);
});
