// The subscription, and the updates it asked for, outlive this client.
import { connect } from "./connect.mjs";

const { client } = await connect();
const { resources } = await client.listResources();
await client.subscribeResource({ uri: resources[0].uri });
await client.callTool({ name: "toggle-subscriber-updates", arguments: {} });
await client.close();
console.log(resources[0].uri);
