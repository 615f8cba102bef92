// Messages on their way out, in two lanes. What belongs to the current session (cancels, callbacks, progress, and the
// calls that restore a session) goes first and ends with the session. Calls of the program wait for a session that
// takes them, in the order in which they were made; which of them outlive the loss of a connection, Calls knows.
//
// A carrier that is full is not written to until it says so: what waits here has not left the library, and so is known
// not to have begun. What waits is bounded: `hasRoom` says whether one more call may wait. Messages of the session are
// not refused, because every callback has to be sent; the daemon bounds their number by the calls that it forwards.

/** How much is written in one call to a carrier that gathers. For one such write it is unknown how much has left. */
const maxBatchBytes = 16 << 10;

/**
 * @typedef {object} OutgoingCall
 * @property {number} order its place: lower ones go first
 * @property {number} bytes what it counts while it waits
 * @property {() => string | undefined} take its text, at the moment of writing; undefined: it is no longer to be sent
 * @property {(error: unknown) => void} failed the carrier refused it
 */

export class Outbox {
    /** Calls stay where they are while this is set: no session takes them. */
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

    /** Bytes that wait in both lanes. */
    get queuedBytes() {
        return this.#queuedBytes;
    }

    get isEmpty() {
        return this.#sessionLane.length === 0 && this.#callLane.size === 0;
    }

    /** Whether a call of so many bytes may wait. One alone always may, so that the bound never forbids a message. */
    hasRoom(bytes) {
        return this.#queuedBytes === 0 || this.#queuedBytes + bytes <= this.#maxBytes;
    }

    attach(carrier) {
        this.#carrier = carrier;
        this.#isFull = false;
    }

    /** The session is over. Calls stay until they are removed. */
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

    /** Sends a call as soon as a session takes it. */
    sendCall(call) {
        // Only what is sent again is older than others; it goes back to its place.
        const isOutOfOrder = call.order < this.#highestOrder;
        this.#highestOrder = Math.max(call.order, this.#highestOrder);
        this.#callLane.set(call.order, call);
        this.#queuedBytes += call.bytes;
        if (isOutOfOrder) this.#callLane = new Map([...this.#callLane].sort(([one], [other]) => one - other));
        this.flush();
    }

    /** Takes a call back that has not been written. */
    remove(call) {
        if (this.#callLane.delete(call.order)) this.#queuedBytes -= call.bytes;
    }

    /** The carrier takes more. */
    drained() {
        this.#isFull = false;
        this.write();
    }

    /** Writes what waits: immediately, or, where the carrier gathers, with what else comes in this turn. */
    flush() {
        if (!this.#carrier || this.#isFull || this.#isGathering) return;
        if (!this.#carrier.gather) return this.write();
        this.#isGathering = true;
        this.#carrier.gather(() => {
            this.#isGathering = false;
            this.write();
        });
    }

    /** Writes what waits, as far as the carrier takes it. */
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

    /** Messages with their texts: one, and further ones until they have so many bytes together. */
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

/** A message of the session whose text is known already. */
export function plainMessage(text) {
    return { bytes: text.length, take: () => text };
}
