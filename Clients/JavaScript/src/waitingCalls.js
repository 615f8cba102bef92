// Calls that wait for a connection, with a bound on their number and on their total size.

import { BridgeError } from "./errors.js";

/** The `retryAfter` if too many calls wait, in milliseconds: about the time of the first attempts to connect. */
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

    /** @throws {BridgeError} `busy` if there is no room for the call */
    checkRoom(call) {
        if (this.hasRoom(call)) return;
        const reason = `${this.#calls.size} calls with ${this.#bytes} bytes wait for a connection to the daemon`;
        throw new BridgeError("busy", `${reason}, the maximum`, {
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

    /** Removes and returns all waiting calls. Called when there is a connection. */
    takeAll() {
        const calls = this.#calls;
        this.#calls = new Set();
        this.#bytes = 0;
        return calls;
    }
}
