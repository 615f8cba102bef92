// Events on their way to a reader that takes them one by one. Bounded: of the events that are not taken, the oldest are
// dropped, and the reader gets their number in an event of its own, named as the daemon's.

import { addDisposal } from "./disposal.js";

/** Says that events were missed: `count` of them, null where the number is unknown. */
export const eventsDropped = "bridge.events_dropped";

export class EventStream {
    #capacity;
    #onEnd;
    #events = [];
    /** How many were dropped since the last read; null where the number is unknown. */
    #dropped = 0;
    #readers = [];
    #hasEnded = false;

    constructor(capacity, onEnd) {
        this.#capacity = capacity;
        this.#onEnd = onEnd;
        addDisposal(this, "asyncDispose", () => this.return());
    }

    put(event) {
        if (this.#hasEnded) return;
        const reader = this.#readers.shift();
        if (reader) return reader({ value: event, done: false });
        if (this.#events.length >= this.#capacity) {
            const { event: name } = this.#events.shift();
            // An event about dropped ones stands for any number of them.
            this.#dropped = name === eventsDropped || this.#dropped === null ? null : this.#dropped + 1;
        }
        this.#events.push(event);
    }

    /** No further events come. What waits is still handed out. */
    end() {
        if (this.#hasEnded) return;
        this.#hasEnded = true;
        for (const reader of this.#readers.splice(0)) reader({ value: undefined, done: true });
        this.#onEnd();
    }

    next() {
        if (this.#dropped !== 0) {
            const value = { event: eventsDropped, data: { count: this.#dropped } };
            this.#dropped = 0;
            return Promise.resolve({ value, done: false });
        }
        if (this.#events.length > 0) return Promise.resolve({ value: this.#events.shift(), done: false });
        if (this.#hasEnded) return Promise.resolve({ value: undefined, done: true });
        return new Promise((resolve) => this.#readers.push(resolve));
    }

    /** The reader wants no further events: `break` in a `for await`. */
    return() {
        this.#events = [];
        this.#dropped = 0;
        this.end();
        return Promise.resolve({ value: undefined, done: true });
    }

    [Symbol.asyncIterator]() {
        return this;
    }
}
