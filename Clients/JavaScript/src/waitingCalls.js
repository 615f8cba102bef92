// Calls that wait for a connection: only so many, and only so long together.

import { BridgeError } from "./errors.js";

/** `retryAfter` where too many wait, in milliseconds: about as long as the first attempts to connect take. */
const retryAfterFull = 1000;

export class WaitingCalls {
    #maxCalls;
    #maxBytes;
    #calls = new Set();
    #bytes = 0;

    constructor({ maxWaitingCalls, maxWaitingBytes }) {
        this.#maxCalls = maxWaitingCalls;
        this.#maxBytes = maxWaitingBytes;
    }

    hasRoom(call) {
        return this.#calls.size < this.#maxCalls && this.#bytes + call.bytes <= this.#maxBytes;
    }

    /** @throws {BridgeError} `busy`, where there is no room for one more */
    checkRoom(call) {
        if (this.hasRoom(call)) return;
        const reason = `${this.#calls.size} calls with ${this.#bytes} bytes wait for a connection to the daemon`;
        throw new BridgeError("busy", `${reason}, as many as may`, {
            data: { started: false }, transient: true, retryAfter: retryAfterFull,
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
