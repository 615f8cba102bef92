// The subscriptions of this client. The daemon has each pattern only once, for any number of listeners. Every new
// session subscribes again.

import { addDisposal } from "./disposal.js";
import { BridgeError, cancelledHere } from "./errors.js";
import { eventsDropped, EventStream } from "./eventStream.js";
import { matches } from "./patterns.js";
import { RetainedEvents } from "./retained.js";

/** The default maximum number of events that wait for a slow reader. */
const defaultCapacity = 1024;

export class Subscriptions {
    #calls;
    #repeat;
    #onProblem;
    #listeners = new Set();
    #streams = new Set();
    #retained = new RetainedEvents();

    /** @param repeat as in Provider */
    constructor(calls, repeat, onProblem) {
        this.#calls = calls;
        this.#repeat = repeat;
        this.#onProblem = onProblem;
    }

    /** Subscribes a listener. Returns the function that ends it; its `ready` resolves when the daemon has accepted. */
    subscribe(patterns, listener, { signal } = {}) {
        const subscription = this.#add(patterns, listener, false, signal);
        addDisposal(subscription, "dispose", subscription);
        return subscription;
    }

    /** Subscribes a reader that takes events one by one. */
    stream(patterns, { capacity = defaultCapacity } = {}) {
        if (!(capacity >= 1)) {
            throw new BridgeError("options.invalid", "the capacity of an event stream must be at least 1");
        }
        const stream = new EventStream(capacity, () => {
            this.#streams.delete(stream);
            stop();
        });
        const stop = this.#add(patterns, (event) => stream.put(event), true);
        this.#streams.add(stream);
        stream.ready = stop.ready;
        // After a refusal, no event can arrive.
        stop.ready.catch(() => stream.end());
        return stream;
    }

    #add(patterns, deliver, isStream, signal) {
        const listener = { patterns: checked(patterns), deliver, isStream, isConfirmed: false };
        const stop = () => {
            signal?.removeEventListener("abort", stop);
            this.#remove(listener);
        };
        stop.ready = this.#begin(listener, signal);
        // Callers may ignore `ready`: this prevents an unhandled rejection.
        stop.ready.catch(() => signal?.removeEventListener("abort", stop));
        signal?.addEventListener("abort", stop, { once: true });
        return stop;
    }

    async #begin(listener, signal) {
        const { patterns } = listener;
        if (signal?.aborted) throw cancelledHere("bridge.subscribe", false, signal.reason);
        // Added before the request: the first event may follow directly after the callback.
        this.#listeners.add(listener);
        this.#handOut(listener);
        try {
            await this.#repeat("bridge.subscribe", { events: patterns });
            listener.isConfirmed = true;
        } catch (error) {
            this.#listeners.delete(listener);
            throw error;
        }
    }

    /** Delivers stored retained events, which the daemon does not send again. Waits until the caller has the handle. */
    #handOut(listener) {
        const events = this.#retained.matching(listener.patterns);
        if (events.length === 0) return;
        Promise.resolve().then(() => {
            for (const event of events) if (this.#listeners.has(listener)) this.#deliver(listener, event);
        });
    }

    #remove(listener) {
        if (!this.#listeners.delete(listener)) return;
        const wanted = new Set(this.#wanted(listener.patterns));
        const unwanted = listener.patterns.filter((pattern) => !wanted.has(pattern));
        if (unwanted.length === 0) return;
        this.#retained.keep([...this.#listeners].flatMap((other) => other.patterns));
        // If it fails, the session has ended, and the subscription with it.
        this.#calls.begin("bridge.unsubscribe", { events: unwanted }).promise.catch(() => {});
    }

    /** Returns those of the patterns that have a listener. */
    #wanted(patterns) {
        const all = new Set([...this.#listeners].flatMap((listener) => listener.patterns));
        return patterns.filter((pattern) => all.has(pattern));
    }

    /** Handles the end of the session. */
    sessionLost() {
        this.#retained.clear();
    }

    /** Subscribes again in a new session, and reports that events may have been missed. */
    restore() {
        const confirmed = [...this.#listeners].filter((listener) => listener.isConfirmed);
        for (const listener of confirmed) this.#deliverTo([listener], { event: eventsDropped, data: { count: null } });
        const patterns = [...new Set(confirmed.flatMap((listener) => listener.patterns))];
        if (patterns.length === 0) return;
        this.#calls.begin("bridge.subscribe", { events: patterns }, { isInSession: true }).promise.catch((error) => {
            if (error.code !== "session.closed") this.#onProblem(error);
        });
    }

    receive(message) {
        const event = { event: message.event, data: message.data };
        if (this.#deliverTo([...this.#listeners], event) && message.retained === true) this.#retained.receive(event);
    }

    /** Delivers an event to the listeners. Returns whether a pattern of one of them matches. */
    #deliverTo(listeners, event) {
        let isWanted = false;
        for (const listener of listeners) {
            if (!this.#listeners.has(listener)) continue;
            const wants = listener.patterns.some((pattern) => matches(pattern, event.event));
            if (wants || (listener.isStream && event.event === eventsDropped)) this.#deliver(listener, event);
            isWanted ||= wants;
        }
        return isWanted;
    }

    #deliver(listener, event) {
        try {
            listener.deliver(event);
        } catch (error) {
            this.#onProblem(error);
        }
    }

    close() {
        this.#listeners.clear();
        for (const stream of [...this.#streams]) stream.end();
    }
}

/**
 * Returns the patterns as a list without duplicates.
 * @throws {BridgeError} if the patterns are invalid
 */
function checked(patterns) {
    const list = [...new Set(Array.isArray(patterns) ? patterns : [patterns])];
    if (list.length > 0 && list.every((pattern) => typeof pattern === "string" && pattern !== "")) return list;
    const reason = "a subscription needs event names, or beginnings of names followed by *";
    throw new BridgeError("options.invalid", reason);
}
