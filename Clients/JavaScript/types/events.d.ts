// Subscriptions to events.

import "./disposal.js";

export interface BridgeEvent<Data = unknown> {
    /** Its name. */
    event: string;
    data: Data;
}

/** A subscription with a listener. Calling it ends it. */
export interface Subscription {
    (): void;
    /**
     * Resolves when the daemon sends the events; rejects with its refusal, or with `call.cancelled` where the signal
     * was aborted already. It need not be looked at.
     */
    readonly ready: Promise<void>;
    /** The same as calling it, at the end of a `using`. Only where the platform has `Symbol.dispose`. */
    [Symbol.dispose](): void;
}

export interface SubscribeSettings {
    /** Aborting it ends the subscription. */
    signal?: AbortSignal;
}

export interface StreamSettings {
    /** How many events wait for the reader, 1 at least; 1,024 unless another number is given. */
    capacity?: number;
}

/**
 * Events for one reader. A reader that falls behind loses the oldest and gets the event `bridge.events_dropped` with
 * their `count` instead. After a new session it gets that event with the `count` null: what was missed is not known.
 * Ends when the bridge is closed, and with `break` or `return()`.
 */
export interface EventStream<Data = unknown> extends AsyncIterableIterator<BridgeEvent<Data>> {
    /** As that of a Subscription. Where it rejects, the stream ends. */
    readonly ready: Promise<void>;
    /** Ends the subscription. What waits is still handed out. */
    end(): void;
    return(): Promise<IteratorResult<BridgeEvent<Data>>>;
    /** The same as `return()`, at the end of an `await using`. Only where the platform has `Symbol.asyncDispose`. */
    [Symbol.asyncDispose](): Promise<any>;
}
