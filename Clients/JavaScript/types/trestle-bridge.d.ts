// The types of the library's public interface. All durations are in milliseconds.

import type { BridgeError } from "./errors.js";
import type { BridgeEvent, EventStream, StreamSettings, SubscribeSettings, Subscription } from "./events.js";
import type { StreamMaker } from "./streams.js";
import type { Callback, CallSettings, CancellableCall, Registration, RegisterSettings, TaskHandler } from "./tasks.js";

export * from "./errors.js";
export * from "./events.js";
export * from "./streams.js";
export * from "./tasks.js";

/** The daemon's answer to `bridge.hello`. */
export interface Hello {
    protocol: number;
    /** The number of this session. It changes with each reconnect. */
    session: number;
    daemon: { name: string; version: string };
    features: string[];
    limits: { messageBytes: number; callsInFlight: number; callTimeoutMs: number };
}

/**
 * The state of a bridge.
 *
 * - `idle`: not used yet.
 * - `connecting`: an attempt to connect is in progress.
 * - `open`: calls are sent immediately.
 * - `waiting`: the connection was lost, or an attempt failed. The next attempt follows, and calls wait.
 * - `closed`: the bridge has ended. Every call fails immediately, with `session.closed` after `close()`.
 */
export type BridgeState = "idle" | "connecting" | "open" | "waiting" | "closed";

export interface StateChange {
    state: BridgeState;
    /** In `waiting` and `closed`: the reason. */
    error?: BridgeError;
    /** In `waiting`: the time until the next attempt. */
    delay?: number;
    /** In `open`: the daemon's hello; `undefined` if it was refused, or not yet answered by a container. */
    hello?: Hello;
}

/** An object that sends and receives messages: a MessagePort, a Worker, or the global scope of a worker. */
export interface PortLike {
    postMessage(message: any): void;
}

/**
 * The settings of a bridge. Set at most one of `socket`, `port`, `window` and `handler`. Without any of them, the
 * bridge uses the carrier that the environment offers.
 */
export interface BridgeOptions {
    /** In Node: the path of the daemon's Unix socket. */
    socket?: string;
    /** A MessagePort, a Worker, or the global scope of a worker. The bridge does not close it. */
    port?: PortLike;
    /** Another window, such as `parent`. */
    window?: PortLike;
    /** The origin of `window`. Required with `window`; there is no default. */
    origin?: string;
    /** A handler of a web view's container. The container must pass incoming messages to `container.receive`. */
    handler?: { postMessage(text: string): unknown };
    /** The description of this client for `bridge.hello`. In Node, `client` defaults to the program's file name. */
    hello?: {
        client?: string; version?: string; userAgent?: string; origin?: string;
        page?: { url?: string; title?: string };
    };
    /** The time that a call without a `timeout` waits for a connection. Default: 60,000. */
    maxWait?: number;
    /** The number of calls that may wait for a connection. Further calls end with `busy`. Default: 1,024. */
    maxWaitingCalls?: number;
    /**
     * The approximate total length of the messages that may wait for a connection, in bytes. Calls beyond it end with
     * `busy`. Default: 4 MiB.
     */
    maxWaitingBytes?: number;
    /** The time after a call's timeout in which the daemon may still report it. Default: 2,000. */
    grace?: number;
    /** The time in which the daemon must answer a new connection. Default: 10,000. */
    connectTimeout?: number;
    /** The number of bytes that may wait to be sent. Calls beyond it end with `busy`. Default: 4 MiB. */
    maxQueuedBytes?: number;
    /** In Node: the maximum length of a line from the daemon, in bytes. Default: 64 MiB. */
    maxLineBytes?: number;
    /** Pauses between attempts to connect. They double from `first` (100) to `max` (15,000); `random` adds jitter. */
    backoff?: { first?: number; max?: number; random?: () => number };
    /** The clock of the library; for tests. */
    clock?: {
        now(): number;
        setTimeout(action: () => void, delay: number): unknown;
        clearTimeout(handle: any): void;
    };
}

export interface ConnectOptions extends BridgeOptions {
    /** Whether to repeat the attempt until a daemon answers, if there is none or it is busy. */
    waitForDaemon?: boolean;
}

/** The functions of a page's bridge that the container of its web view calls. */
export interface Container {
    /** Receives a message for the page, or an array of messages, as text or as a value. */
    receive(message: string | object): void;
    /**
     * Reports that the page's session has ended and that messages now go to a new one. Calls in flight end with
     * `session.closed`. Registrations and subscriptions are restored in the new session.
     */
    sessionLost(): void;
}

/** A bridge to the daemon. It opens a connection only at its first use. */
export interface Bridge extends StreamMaker {}
export class Bridge {
    constructor(options?: BridgeOptions);

    /**
     * Calls a task and reports its end to a callback, which is called exactly once, after this function returns.
     */
    call<Result = any>(task: string, callback: Callback<Result>): CancellableCall;
    call<Result = any, Options = unknown, Progress = any>(
        task: string, options: Options, callback: Callback<Result>, settings?: CallSettings<Progress>
    ): CancellableCall;
    /**
     * Calls a task. Rejects only with BridgeError. Omitted options are `{}`. The options may contain a `ReadableStream`
     * or a value of `stream` at any place.
     */
    call<Result = any, Options = unknown, Progress = any>(
        task: string, options?: Options, settings?: CallSettings<Progress>
    ): Promise<Result>;

    /**
     * Reads the pages of a table, such as `bridge.sessions` or `persistence.query`. Each page is the result of one
     * call, which continues where the previous one ended. The settings apply to each call.
     */
    pages<Page extends { cursor?: string } = any, Options extends object = object>(
        task: string, options?: Options, settings?: CallSettings
    ): AsyncGenerator<Page, void, void>;

    /**
     * Calls a task without receiving its result or error. Resolves when the message was given to the carrier. Rejects
     * if it could not be sent. The program may ignore the promise.
     */
    notify<Options = unknown>(task: string, options?: Options, settings?: { session?: number }): Promise<void>;

    /**
     * Provides a task until its registration ends, also across reconnects. Resolves when the daemon has accepted it.
     * @throws `task.exists` if the name belongs to a plugin, or any other error of the daemon.
     */
    register<Options = any, Result = unknown, Progress = unknown>(
        task: string, handler: TaskHandler<Options, Result, Progress>, settings?: RegisterSettings
    ): Promise<Registration>;

    /**
     * Subscribes to events, also across reconnects. A pattern is a name, or the beginning of a name followed by `*`.
     * @throws `options.invalid` if the patterns, the listener or the settings are invalid.
     */
    subscribe<Data = any>(
        patterns: string | readonly string[], listener: (event: BridgeEvent<Data>) => void,
        settings?: SubscribeSettings): Subscription;
    /** Subscribes to events for a reader that takes them one by one. */
    subscribe<Data = any>(patterns: string | readonly string[], settings?: StreamSettings): EventStream<Data>;
    /** Sends an event to its subscribers. With `retain`, later subscribers receive it as well. */
    publish(event: string, data?: unknown, settings?: { retain?: boolean }): Promise<void>;

    readonly state: BridgeState;
    /** The daemon's answer to `bridge.hello` in the current session; `undefined` if there is none. */
    readonly hello: Hello | undefined;
    /** The number of bytes that wait to be sent. */
    readonly queuedBytes: number;

    /**
     * Opens the bridge. Resolves when it is open. Rejects with the error of the current attempt, or else of the next
     * one.
     */
    open(): Promise<Hello | undefined>;
    /**
     * Closes the bridge. Calls in flight are cancelled and end with `session.closed`. One-way calls that were already
     * made are still sent. Resolves when the daemon has closed its end too, at the latest after one second.
     */
    close(): Promise<void>;

    /** Makes an open bridge keep a Node process alive. This is the default. */
    ref(): void;
    /** Allows a Node process to end while the bridge is open. */
    unref(): void;

    /** Calls the listener at each change of `state`. Returns a function that removes the listener. */
    onState(listener: (change: StateChange) => void): () => void;
    /**
     * Calls the listener with each problem that belongs to no call: an unreadable message, an exception of a callback
     * or listener, or a registration that the next daemon refused. Without a listener, problems are written to the
     * console. Returns a function that removes the listener.
     */
    onProblem(listener: (problem: unknown) => void): () => void;

    readonly container: Container;
}

/**
 * Opens a bridge. Rejects if the first attempt fails, and closes the bridge in that case. With `waitForDaemon` it
 * rejects only if the error is not transient, or if the carrier cannot be opened again. In a web view, if the options
 * name no carrier, it returns WebBridge.
 */
export function connect(options?: ConnectOptions): Promise<Bridge>;

/** The shared bridge of a page or a program. It uses the carrier of the environment and opens at its first use. */
export const WebBridge: Bridge;
