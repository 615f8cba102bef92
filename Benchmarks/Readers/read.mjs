// Reads a stream as a Node program does: node read.mjs SOCKET STREAM.
import { connect } from "../../Clients/JavaScript/src/index.js";

const [socket, stream] = process.argv.slice(2);
const bridge = await connect({ socket });
let count = 0;
for await (const chunk of bridge.readStream(stream)) count += chunk.length;
await bridge.close();
