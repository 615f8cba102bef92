// Outgoing messages, in two queues. Messages of the current session (cancels, callbacks, progress, and the calls that
// restore a session) are sent first and are dropped with the session. Calls of the program wait, in order, for a
// session that accepts calls. `Calls` decides which of them survive the loss of a connection.
//
// A full carrier gets no message until it has drained. Messages that wait here have not left the library, so their
// calls have not begun. The number of waiting bytes is bounded: `hasRoom` decides whether one more call may wait.
// Messages of the session are never refused, because every callback must be sent. The daemon bounds their number by
// the number of calls that it forwards.

/** The target size of one write to a carrier with `gather`. It is unknown how much of an unfinished write was sent. */
const maxBatchBytes = 16 << 10;

/**
 * @typedef {object} OutgoingCall
 * @property {number} order its position: lower ones are sent first
 * @property {number} bytes its size in the queue
 * @property {() => string | undefined} take returns its text when it is written; undefined if it must not be sent
 * @property {(error: unknown) => void} failed called if the carrier refused it
 */

export class Outbox {
    /** Whether calls are held, because no session accepts them. */
    isHeld = true;

    #maxBytes;
    #sessionLane = [];
    #callLane = new Map();
    #highestOrder = 0;
    #queuedBytes = 0;
    #carrier = undefined;
    #isFull = false;
    #isGathering = false;
    #onProblem;

    constructor(maxBytes, onProblem) {
        this.#maxBytes = maxBytes;
        this.#onProblem = onProblem;
    }

    /** The number of bytes that wait in both queues. */
    get queuedBytes() {
        return this.#queuedBytes;
    }

    get isEmpty() {
        return this.#sessionLane.length === 0 && this.#callLane.size === 0;
    }

    /** Whether a call of `bytes` bytes may wait. An empty outbox accepts any call, so that the bound forbids none. */
    hasRoom(bytes) {
        return this.#queuedBytes === 0 || this.#queuedBytes + bytes <= this.#maxBytes;
    }

    attach(carrier) {
        this.#carrier = carrier;
        this.#isFull = false;
    }

    /** Handles the end of the session. Calls stay until they are removed. */
    detach() {
        this.#carrier = undefined;
        this.isHeld = true;
        for (const message of this.#sessionLane) this.#queuedBytes -= message.bytes;
        this.#sessionLane = [];
    }

    /** Sends a message of this session. */
    sendInSession(message) {
        if (!this.#carrier) return;
        this.#sessionLane.push(message);
        this.#queuedBytes += message.bytes;
        this.flush();
    }

    /** Sends a call as soon as a session accepts it. */
    sendCall(call) {
        // Only a call that is sent again is older than others; it returns to its position.
        const isOutOfOrder = call.order < this.#highestOrder;
        this.#highestOrder = Math.max(call.order, this.#highestOrder);
        this.#callLane.set(call.order, call);
        this.#queuedBytes += call.bytes;
        if (isOutOfOrder) this.#callLane = new Map([...this.#callLane].sort(([one], [other]) => one - other));
        this.flush();
    }

    /** Removes a call that has not been written. */
    remove(call) {
        if (this.#callLane.delete(call.order)) this.#queuedBytes -= call.bytes;
    }

    /** Handles that the carrier accepts more. */
    drained() {
        this.#isFull = false;
        this.write();
    }

    /** Writes the waiting messages: immediately, or later in this turn if the carrier has `gather`. */
    flush() {
        if (!this.#carrier || this.#isFull || this.#isGathering) return;
        if (!this.#carrier.gather) return this.write();
        this.#isGathering = true;
        this.#carrier.gather(() => {
            this.#isGathering = false;
            this.write();
        });
    }

    /** Writes the waiting messages, as far as the carrier accepts them. */
    write() {
        while (this.#carrier && !this.#isFull && this.#carrier.canWrite !== false) {
            const batch = this.#nextBatch(this.#carrier.gather ? maxBatchBytes : 0);
            if (batch.length === 0) return;
            try {
                if (this.#carrier.write(batch.map(({ text }) => text).join("\n")) === false) this.#isFull = true;
            } catch (error) {
                this.#onProblem(error);
                for (const { message } of batch) message.failed?.(error);
            }
        }
    }

    /** Returns messages with their texts: at least one if there is one, and more up to about `bytes` bytes in total. */
    #nextBatch(bytes) {
        const batch = [];
        let batchBytes = 0;
        while (batch.length === 0 || batchBytes < bytes) {
            const message = this.#next();
            if (!message) break;
            const text = message.take();
            if (text === undefined) continue;
            batch.push({ message, text });
            batchBytes += message.bytes;
        }
        return batch;
    }

    #next() {
        let message = this.#sessionLane.shift();
        if (!message && !this.isHeld) {
            for (message of this.#callLane.values()) break;
            if (message) this.#callLane.delete(message.order);
        }
        if (message) this.#queuedBytes -= message.bytes;
        return message;
    }
}

/** Returns a message of the session that has a fixed text. */
export function plainMessage(text) {
    return { bytes: text.length, take: () => text };
}
