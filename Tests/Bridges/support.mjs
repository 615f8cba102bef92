// What the tests of real bridges share: where their scripts are, a daemon, and a line to it.

import { existsSync, readFileSync } from "node:fs";
import net from "node:net";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export { daemonFolder, startDaemon, withoutDaemon } from "../../Clients/JavaScript/test/support/daemon.mjs";

const checkout = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** The text of a file of a suite; undefined where the suite is missing. */
export function suiteFile(path) {
    const folders = process.env.TRESTLE_SUITES
        ? [process.env.TRESTLE_SUITES]
        : [join(checkout, "../shared/suites"), join(checkout, ".build/suites")];
    const folder = folders.find((folder) => existsSync(join(folder, path)));
    return folder && readFileSync(join(folder, path), "utf8");
}

/** What a test says of why it is skipped, where the suite is missing; false where it is there. */
export const withoutSuite = (text, name) =>
    text === undefined && `the public suite ${name} is not there: scripts/fetch-suites fetches it`;

/**
 * A connection to the daemon.
 * @returns `send(message)`, and `lines`: what the daemon sends, through `onMessage` as parsed JSON
 */
export async function openLine(t, path, onMessage) {
    const socket = net.connect({ path });
    await new Promise((done, failed) => socket.once("connect", done).once("error", failed));
    t.after(() => socket.destroy());
    createInterface({ input: socket }).on("line", (line) => onMessage(JSON.parse(line)));
    return { send: (message) => socket.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`) };
}

/** Another client, whose calls are promises of their callbacks. */
export async function openClient(t, path) {
    const waiting = new Map();
    const provided = new Map();
    const line = await openLine(t, path, (message) => {
        if (message.task !== undefined) {
            const result = provided.get(message.task)?.(message.options) ?? null;
            if (message.callbackId !== undefined) line.send({ callbackId: message.callbackId, result });
            return;
        }
        waiting.get(message.callbackId)?.(message);
        waiting.delete(message.callbackId);
    });
    let last = 0;
    const call = (task, options = {}) =>
        new Promise((done) => {
            last += 1;
            waiting.set(last, done);
            line.send({ task, options, callbackId: last });
        });
    const provide = async (task, handler) => {
        provided.set(task, handler);
        await call("bridge.register", { tasks: [task] });
    };
    return { call, provide };
}

/** A promise that is kept from outside. */
export function promised() {
    let keep;
    const promise = new Promise((done) => {
        keep = done;
    });
    return Object.assign(promise, { keep });
}
