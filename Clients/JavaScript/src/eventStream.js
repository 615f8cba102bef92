// A bounded queue of events for a reader that takes them one by one. If it is full, the oldest events are dropped, and
// the reader gets their number in an event with the same name as the daemon's.

import { addDisposal } from "./disposal.js";

/** The event about missed events. Its `count` is their number, null if it is unknown. */
export const eventsDropped = "bridge.events_dropped";

export class EventStream {
    #capacity;
    #onEnd;
    #events = [];
    /** The number of events dropped since the last report; null if it is unknown. */
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
            // A dropped event about dropped events represents an unknown number of them.
            this.#dropped = name === eventsDropped || this.#dropped === null ? null : this.#dropped + 1;
        }
        this.#events.push(event);
    }

    /** Ends the stream. The reader still gets the waiting events. */
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

    /** Ends the stream and discards the waiting events. `break` in a `for await` calls it. */
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
