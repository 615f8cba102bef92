// Pages without a document: each is a bridge behind a container of the test, which can lose its connection and make
// another.

import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";

import { within } from "../../../Clients/JavaScript/test/support/processes.mjs";
import { Bridge } from "../../../Clients/JavaScript/src/index.js";
import { Notes } from "../notes.js";

export const origin = "https://notes.example";

/** A container as described in the documentation of the JavaScript client. `inspect` gets each message that the page
   posts. */
export class Container {
    inspect = () => true;
    /** Whether a message of the daemon is passed on. */
    hears = () => true;
    #socket;
    #path;
    #connection;
    bridge = new Bridge({ handler: { postMessage: (text) => this.#posted(text) } });

    constructor(path) {
        this.#path = path;
    }

    async connect() {
        this.#connection = net.connect({ path: this.#path });
        await once(this.#connection, "connect");
        this.#connection.on("error", () => {});
        this.#socket = this.#connection;
        const hello = { task: "bridge.hello", callbackId: "container", options: { origin } };
        this.#socket.write(`${JSON.stringify(hello)}\n`);
        let rest = "";
        const current = this.#socket;
        current.setEncoding("utf8").on("data", (text) => {
            const lines = (rest + text).split("\n");
            rest = lines.pop();
            for (const line of lines.map((item) => JSON.parse(item))) {
                if (current !== this.#socket || line.callbackId === "container") continue;
                if (this.hears(line)) this.bridge.container.receive(line);
            }
        });
    }

    /** Closes the connection: nothing is sent or received from here on. */
    cut() {
        this.#socket?.destroy();
        this.#socket = undefined;
    }

    async reconnect() {
        this.cut();
        this.hears = () => true;
        await this.connect();
        this.bridge.container.sessionLost();
    }

    close() {
        this.cut();
        return this.bridge.close();
    }

    #posted(text) {
        if (this.inspect(JSON.parse(text)) && this.#socket) this.#socket.write(`${text}\n`);
    }
}

/** Opens some pages of one origin, which follow the same table. Each has `notes`, `container` and `tasks`, the tasks
   that it called. */
export async function openPages(t, daemon, count = 2) {
    const pages = [];
    for (let index = 0; index < count; index += 1) {
        const container = new Container(daemon.socket);
        await container.connect();
        const page = { container, tasks: [], notes: new Notes(container.bridge) };
        container.inspect = ({ task }) => {
            page.tasks.push(task);
            return true;
        };
        t.after(() => {
            page.notes.close();
            return container.close();
        });
        page.notes.open();
        await until(page, () => page.notes.isLive);
        pages.push(page);
    }
    return pages;
}

/** Resolves when the condition holds, which is checked after each change of the page's notes. */
export function until({ notes }, isSo) {
    let stop;
    const come = new Promise((done) => {
        const look = () => isSo() && done();
        stop = notes.onChange(look);
        look();
    });
    const report = () => JSON.stringify({ isLive: notes.isLive, list: notes.list() });
    return within(come, String(isSo), report).finally(() => stop());
}

export function texts({ notes }) {
    return notes.list().map(({ text }) => text);
}

/** Resolves when the pages show these texts. */
export async function show(pages, expected) {
    for (const page of pages) await until(page, () => JSON.stringify(texts(page)) === JSON.stringify(expected));
}

export { assert };
