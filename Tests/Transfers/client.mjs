// client.mjs SOCKET TASK SENT RECEIVED: sends one file, and receives the other.
import { createReadStream, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { connect, stream } from "../../Clients/JavaScript/src/index.js";

const [socket, task, sent, received] = process.argv.slice(2);
const bridge = await connect({ socket });
const result = await bridge.call(task, { photo: stream(Readable.toWeb(createReadStream(sent))) });
await pipeline(Readable.fromWeb(bridge.readStream(result.photo)), createWriteStream(received));
await bridge.close();
