// client.mjs SOCKET TASK SENT RECEIVED: sends one file, and receives the other.
import { createReadStream, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { connect } from "../../Clients/JavaScript/src/index.js";

const [socket, task, sent, received] = process.argv.slice(2);
const bridge = await connect(socket);
const { name, done } = await bridge.sendStream(Readable.toWeb(createReadStream(sent)));
const result = await bridge.call(task, { photo: name });
await pipeline(Readable.fromWeb(bridge.readStream(result.photo)), createWriteStream(received));
await done;
await bridge.close();
