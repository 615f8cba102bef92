// Subscriptions to events.

import "./disposal.js";

export interface BridgeEvent<Data = unknown> {
    /** The name of the event. */
    event: string;
    data: Data;
}

/** A subscription with a listener. A call of this function ends the subscription. */
export interface Subscription {
    (): void;
    /**
     * Resolves when the daemon has accepted the subscription. Rejects with the daemon's error, or with `call.cancelled`
     * if the signal was already aborted. The program may ignore this promise.
     */
    readonly ready: Promise<void>;
    /** Ends the subscription at the end of a `using` scope. Exists only if the platform has `Symbol.dispose`. */
    [Symbol.dispose](): void;
}

export interface SubscribeSettings {
    /** A signal that ends the subscription. */
    signal?: AbortSignal;
}

export interface StreamSettings {
    /** The maximum number of events that wait for the reader, at least 1. Default: 1,024. */
    capacity?: number;
}

/**
 * Events for one reader. If the reader is too slow, the oldest events are dropped, and it gets the event
 * `bridge.events_dropped` with their `count` instead. After a reconnect it gets that event with a `count` of null,
 * because the number of missed events is unknown. Ends when the bridge is closed, and with `break` or `return()`.
 */
export interface EventStream<Data = unknown> extends AsyncIterableIterator<BridgeEvent<Data>> {
    /** Like `ready` of a Subscription. If it rejects, the stream ends. */
    readonly ready: Promise<void>;
    /** Ends the subscription. The reader still gets the waiting events. */
    end(): void;
    return(): Promise<IteratorResult<BridgeEvent<Data>>>;
    /** Calls `return()` at the end of an `await using` scope. Exists only if the platform has `Symbol.asyncDispose`. */
    [Symbol.asyncDispose](): Promise<any>;
}
