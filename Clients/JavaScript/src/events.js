// What this end listens to. The daemon knows each pattern once, however many listeners want it, and is told again by
// every new session.

import { BridgeError } from "./errors.js";
import { EventQueue } from "./eventQueue.js";

/** Events that wait for a slow reader, unless it says otherwise. */
const defaultCapacity = 1024;

export class Subscriptions {
    #calls;
    #repeat;
    #onProblem;
    #listeners = new Set();
    #queues = new Set();

    /** @param repeat as in Provider */
    constructor(calls, repeat, onProblem) {
        this.#calls = calls;
        this.#repeat = repeat;
        this.#onProblem = onProblem;
    }

    /** Begins to listen. Returns the function that ends it; its `ready` resolves when the daemon has been told. */
    subscribe(patterns, listener) {
        if (typeof listener !== "function") throw new BridgeError("options.invalid", "a subscription needs a listener");
        return this.#add(patterns, listener, false);
    }

    /** The same, for a reader that takes events one by one. */
    events(patterns, { capacity = defaultCapacity } = {}) {
        if (!(capacity >= 1)) throw new BridgeError("options.invalid", "a queue has room for one event at least");
        const queue = new EventQueue(capacity, () => {
            this.#queues.delete(queue);
            stop();
        });
        const stop = this.#add(patterns, (event) => queue.put(event), true);
        this.#queues.add(queue);
        queue.ready = stop.ready;
        // Nothing would ever come.
        stop.ready.catch(() => queue.end());
        return queue;
    }

    #add(patterns, deliver, hearsOfDropped) {
        const list = [...new Set(Array.isArray(patterns) ? patterns : [patterns])];
        if (list.length === 0 || !list.every((pattern) => typeof pattern === "string" && pattern !== "")) {
            const reason = "a subscription needs names of events, or beginnings of names with * behind";
            throw new BridgeError("options.invalid", reason);
        }
        const listener = { patterns: list, deliver, hearsOfDropped, isConfirmed: false };
        // Before the daemon knows: the first event may come right behind the callback.
        this.#listeners.add(listener);
        const stop = () => this.#remove(listener);
        stop.ready = this.#repeat("bridge.subscribe", { events: list }).then(
            () => {
                listener.isConfirmed = true;
            },
            (error) => {
                this.#listeners.delete(listener);
                throw error;
            });
        // Who does not look at it is not to be bothered by an unhandled rejection.
        stop.ready.catch(() => {});
        return stop;
    }

    #remove(listener) {
        if (!this.#listeners.delete(listener)) return;
        const wanted = new Set([...this.#listeners].flatMap((other) => other.patterns));
        const unwanted = listener.patterns.filter((pattern) => !wanted.has(pattern));
        if (unwanted.length === 0) return;
        // Where it fails the session is gone, and the subscription with it.
        this.#calls.begin("bridge.unsubscribe", { events: unwanted }).promise.catch(() => {});
    }

    /** A new session knows nothing of the patterns. */
    restore() {
        const confirmed = [...this.#listeners].filter((listener) => listener.isConfirmed);
        const patterns = [...new Set(confirmed.flatMap((listener) => listener.patterns))];
        if (patterns.length === 0) return;
        this.#calls.begin("bridge.subscribe", { events: patterns }, { isInSession: true }).promise.catch((error) => {
            if (error.code !== "session.closed") this.#onProblem(error);
        });
    }

    receive(message) {
        const event = { event: message.event, data: message.data };
        const isAboutDropped = message.event === "bridge.events_dropped";
        for (const listener of [...this.#listeners]) {
            if (!this.#listeners.has(listener)) continue;
            const wants = listener.patterns.some((pattern) => matches(pattern, message.event));
            if (!wants && !(isAboutDropped && listener.hearsOfDropped)) continue;
            try {
                listener.deliver(event);
            } catch (error) {
                this.#onProblem(error);
            }
        }
    }

    close() {
        this.#listeners.clear();
        for (const queue of [...this.#queues]) queue.end();
    }
}

function matches(pattern, name) {
    return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
