// Fakes: a daemon that can do what a real one never does, a carrier that a test drives, and a clock that a test
// advances.

import { once } from "node:events";
import net from "node:net";
import { join } from "node:path";

import { temporaryDirectory } from "./daemon.mjs";

/**
 * Starts a server at a Unix socket that passes each connection to the test. It answers bridge.hello, unless
 * `answersHello` is false. `next()` returns the next connection.
 */
export async function fakeDaemon(t, { answersHello = true, limits } = {}) {
    const socket = join(temporaryDirectory(t), "s.sock");
    const connections = mailbox();
    const open = new Set();
    const server = net.createServer((peer) => {
        open.add(peer);
        peer.on("close", () => open.delete(peer)).on("error", () => {});
        connections.put(new FakeConnection(peer, answersHello, limits));
    });
    server.listen(socket);
    await once(server, "listening");
    t.after(() => {
        for (const peer of open) peer.destroy();
        server.close();
    });
    return { socket, next: () => connections.take() };
}

class FakeConnection {
    #messages = mailbox();

    constructor(peer, answersHello, limits) {
        this.peer = peer;
        let rest = "";
        peer.setEncoding("utf8").on("data", (text) => {
            const lines = (rest + text).split("\n");
            rest = lines.pop();
            for (const line of lines) {
                const message = JSON.parse(line);
                if (answersHello && message.task === "bridge.hello") {
                    this.send({ callbackId: message.callbackId, result: { session: 1, limits } });
                } else this.#messages.put(message);
            }
        });
        this.ended = new Promise((done) => peer.on("close", done));
    }

    /** Returns the next message of the client, without its hello. */
    next() {
        return this.#messages.take();
    }

    /** The number of messages that have arrived and were not taken. */
    get waiting() {
        return this.#messages.waiting;
    }

    send(message) {
        this.write(`${JSON.stringify(message)}\n`);
    }

    write(bytes) {
        this.peer.write(bytes);
    }

    drop() {
        this.peer.destroy();
    }
}

/** A queue of values that may arrive before or after a test requests them. */
export function mailbox() {
    const values = [];
    const readers = [];
    return {
        put: (value) => (readers.length > 0 ? readers.shift()(value) : values.push(value)),
        take: () => new Promise((done) => (values.length > 0 ? done(values.shift()) : readers.push(done))),
        get waiting() {
            return values.length;
        },
    };
}

/** A carrier that a test drives: `sent` contains the written messages, `events` notifies the bridge. */
export class FakeCarrier {
    sent = [];
    /** The number of messages of each write. */
    writes = [];
    isFull = false;
    isDestroyed = false;
    canReopen = false;
    awaitsHello = true;
    opensAtOnce = true;

    constructor(properties) {
        Object.assign(this, properties);
    }

    open(events) {
        this.events = events;
        if (this.opensAtOnce) events.opened();
    }

    write(text) {
        const messages = text.split("\n").map((line) => JSON.parse(line));
        this.writes.push(messages.length);
        for (const message of messages) {
            this.sent.push(message);
            if (message.task === "bridge.hello" && this.hello !== null) {
                this.receive({ callbackId: message.callbackId, result: this.hello ?? { session: 1 } });
            }
        }
        return !this.isFull;
    }

    end() {
        this.events.closed();
    }

    destroy() {
        this.isDestroyed = true;
    }

    keepAlive(keeps) {
        this.keepsAlive = keeps;
    }

    /** The written messages, without hello. */
    get calls() {
        return this.sent.filter((message) => message.task !== "bridge.hello");
    }

    receive(message) {
        this.events.message(JSON.stringify(message));
    }

    /** Answers the last message with a result. */
    answer(result = {}) {
        this.receive({ callbackId: this.sent.at(-1).callbackId, result });
    }
}

/** A clock that only `advance` changes. */
export class FakeClock {
    #now = 0;
    #timers = new Set();

    now() {
        return this.#now;
    }

    setTimeout(action, delay) {
        const timer = { action, due: this.#now + delay };
        this.#timers.add(timer);
        return timer;
    }

    clearTimeout(timer) {
        this.#timers.delete(timer);
    }

    get count() {
        return this.#timers.size;
    }

    advance(duration) {
        const end = this.#now + duration;
        for (;;) {
            const due = [...this.#timers].filter((timer) => timer.due <= end).sort((one, two) => one.due - two.due)[0];
            if (!due) break;
            this.#timers.delete(due);
            this.#now = due.due;
            due.action();
        }
        this.#now = end;
    }
}

/** Waits until the handlers of settled promises have run. */
export function settled() {
    return new Promise((done) => setImmediate(done));
}
