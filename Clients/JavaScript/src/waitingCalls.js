// Calls that wait for a connection: only so many, and only so long together.

import { BridgeError } from "./errors.js";

/** What a caller is told to wait for when too many wait: about as long as the first attempts to connect take. */
const waitingFullRetryAfter = 1000;

export class WaitingCalls {
    #mostCalls;
    #mostBytes;
    #calls = new Set();
    #bytes = 0;

    constructor({ maxWaitingCalls, maxWaitingBytes }) {
        this.#mostCalls = maxWaitingCalls;
        this.#mostBytes = maxWaitingBytes;
    }

    hasRoom(call) {
        return this.#calls.size < this.#mostCalls && this.#bytes + call.bytes <= this.#mostBytes;
    }

    /** @throws {BridgeError} `busy`, where there is no room for one more */
    checkRoom(call) {
        if (this.hasRoom(call)) return;
        const reason = `${this.#calls.size} calls with ${this.#bytes} bytes wait for a connection to the daemon`;
        throw new BridgeError("busy", `${reason}, as many as may`, {
            data: { started: false }, transient: true, retryAfter: waitingFullRetryAfter,
        });
    }

    add(call) {
        if (this.#calls.has(call)) return;
        this.#calls.add(call);
        this.#bytes += call.bytes;
    }

    delete(call) {
        if (this.#calls.delete(call)) this.#bytes -= call.bytes;
    }

    /** There is a connection. Returns those that waited. */
    takeAll() {
        const calls = this.#calls;
        this.#calls = new Set();
        this.#bytes = 0;
        return calls;
    }
}
