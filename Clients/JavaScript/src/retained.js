// Retained events, stored for further subscriptions. The daemon sends a retained event to a session only once, for its
// first matching pattern. The message has a retained mark.

import { matches } from "./patterns.js";

/** The maximum number of stored events; the same as in a daemon. */
const maxEvents = 1024;

export class RetainedEvents {
    #events = new Map();

    /** Removes events that match none of these patterns. The daemon would send those again. */
    keep(patterns) {
        for (const name of this.#events.keys()) {
            if (!patterns.some((pattern) => matches(pattern, name))) this.#events.delete(name);
        }
    }

    /** Removes all events. The daemon sends them again in the next session. */
    clear() {
        this.#events.clear();
    }

    /** Stores a retained event. It replaces the previous event of its name. */
    receive(event) {
        if (this.#events.has(event.event) || this.#events.size < maxEvents) this.#events.set(event.event, event);
    }

    /** Returns the newest retained event of each name that matches one of the patterns. */
    matching(patterns) {
        return [...this.#events.values()].filter((event) => patterns.some((pattern) => matches(pattern, event.event)));
    }
}
