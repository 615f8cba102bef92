// Retained events, kept for further subscriptions: the daemon sends one to a session when the first of its patterns
// matches, and not again.
//
// A message does not say that its event is retained. It is seen by its place: the daemon sends retained events right
// behind the callback of bridge.subscribe, and so, where both come in one piece, before `follow` is called. Only those
// are known, and those that this bridge publishes: taking another event for a retained one would have it come twice.
// From then on the newest event of such a name is kept.

import { matches } from "./patterns.js";

/** How many are kept: as many as a daemon retains. */
const maxEvents = 1024;

export class RetainedEvents {
    /** What the daemon has said that it sends to this session. */
    #followed = new Set();
    #events = new Map();

    /** The daemon sends what these patterns match, and has sent what was retained of it. */
    follow(patterns) {
        for (const pattern of patterns) this.#followed.add(pattern);
    }

    /** The daemon sends no more for these patterns. What no other one matches it would send again. */
    unfollow(patterns) {
        for (const pattern of patterns) this.#followed.delete(pattern);
        for (const name of this.#events.keys()) if (!this.#isFollowed(name)) this.#events.delete(name);
    }

    /** The next session is sent everything anew. */
    clear() {
        this.#followed.clear();
        this.#events.clear();
    }

    /** This bridge publishes a retained event of this name. */
    expect(name) {
        if (this.#isFollowed(name) && !this.#events.has(name)) this.#keep(name, undefined);
    }

    receive(event) {
        const name = event.event;
        if (this.#events.has(name)) this.#events.set(name, event);
        else if (!this.#isFollowed(name)) this.#keep(name, event);
    }

    /** The newest retained event of each name that one of the patterns matches. */
    matching(patterns) {
        return [...this.#events.values()].filter((event) => (
            event && patterns.some((pattern) => matches(pattern, event.event))));
    }

    #keep(name, event) {
        if (this.#events.size < maxEvents) this.#events.set(name, event);
    }

    #isFollowed(name) {
        for (const pattern of this.#followed) if (matches(pattern, name)) return true;
        return false;
    }
}
