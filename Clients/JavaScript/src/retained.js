// Retained events, kept for further subscriptions: the daemon sends one to a session when the first of its patterns
// matches, and not again. Their messages are marked as retained.

import { matches } from "./patterns.js";

/** How many are kept: as many as a daemon retains. */
const maxEvents = 1024;

export class RetainedEvents {
    #events = new Map();

    /** Forgets what none of these patterns matches: the daemon would send it again. */
    keep(patterns) {
        for (const name of this.#events.keys()) {
            if (!patterns.some((pattern) => matches(pattern, name))) this.#events.delete(name);
        }
    }

    /** The next session is sent everything again. */
    clear() {
        this.#events.clear();
    }

    /** Keeps a retained event in place of the one before of its name. */
    receive(event) {
        if (this.#events.has(event.event) || this.#events.size < maxEvents) this.#events.set(event.event, event);
    }

    /** The newest retained event of each name that one of the patterns matches. */
    matching(patterns) {
        return [...this.#events.values()].filter((event) => patterns.some((pattern) => matches(pattern, event.event)));
    }
}
