// The types of the library's public interface. All durations are in milliseconds.

import type { BridgeError } from "./errors.js";
import type { BridgeEvent, EventStream, StreamSettings, SubscribeSettings, Subscription } from "./events.js";
import type { StreamMaker } from "./streams.js";
import type { Callback, CallSettings, CancellableCall, Registration, RegisterSettings, TaskHandler } from "./tasks.js";

export * from "./errors.js";
export * from "./events.js";
export * from "./streams.js";
export * from "./tasks.js";

/** What the daemon says of itself. */
export interface Hello {
    protocol: number;
    /** The number of this session; another one after each reconnect. */
    session: number;
    daemon: { name: string; version: string };
    features: string[];
    limits: { messageBytes: number; callsInFlight: number; callTimeoutMs: number };
}

/**
 * - `idle`: not used yet.
 * - `connecting`: an attempt to connect is under way.
 * - `open`: calls are sent immediately.
 * - `waiting`: the connection was lost, or an attempt failed; the next one follows. Calls wait.
 * - `closed`: it is over. Every call ends with `session.closed`.
 */
export type BridgeState = "idle" | "connecting" | "open" | "waiting" | "closed";

export interface StateChange {
    state: BridgeState;
    /** `waiting`, `closed`: why. */
    error?: BridgeError;
    /** `waiting`: the time until the next attempt. */
    delay?: number;
    /** `open`: what the daemon said of itself; undefined where it was not let ask, or a container has yet to answer. */
    hello?: Hello;
}

/** Something that takes and sends messages: a MessagePort, a Worker, a worker's own scope. */
export interface PortLike {
    postMessage(message: any): void;
}

/** At most one of `socket`, `port`, `window` and `handler`; without any, what the surroundings offer is used. */
export interface BridgeOptions {
    /** Node: the path of the daemon's Unix socket. */
    socket?: string;
    /** A MessagePort, a Worker, or the inside of one. It stays its owner's, and is not closed. */
    port?: PortLike;
    /** Another window, such as `parent`. */
    window?: PortLike;
    /** With `window`: its origin. There is no default. */
    origin?: string;
    /** A handler of a web view's container; what comes in has to be given to `container.receive`. */
    handler?: { postMessage(text: string): unknown };
    /** What this client says of itself. In Node `client` is the name of the program's file unless another is given. */
    hello?: {
        client?: string; version?: string; userAgent?: string; origin?: string;
        page?: { url?: string; title?: string };
    };
    /** How long a call without a `timeout` waits for a connection; 60,000. */
    maxWait?: number;
    /** How many calls may wait for a connection; beyond, they end with `busy`. 1,024. */
    maxWaitingCalls?: number;
    /** How long the messages of calls that wait for a connection may be together, about; beyond, `busy`. 4 MiB. */
    maxWaitingBytes?: number;
    /** How much later than a call's timeout this end gives up waiting for the daemon to report it; 2,000. */
    grace?: number;
    /** How long a daemon may take to answer when connecting; 10,000. */
    connectTimeout?: number;
    /** Bytes that may wait to be sent over a connection; beyond, calls end with `busy`. 4 MiB. */
    maxQueuedBytes?: number;
    /** Node: the longest line that is read from the daemon, in bytes; 64 MiB. */
    maxLineBytes?: number;
    /** Pauses between attempts to connect: from `first` (100) doubling up to `max` (15,000), scattered by `random`. */
    backoff?: { first?: number; max?: number; random?: () => number };
    /** Where the library takes its time from; for tests. */
    clock?: {
        now(): number;
        setTimeout(action: () => void, delay: number): unknown;
        clearTimeout(handle: any): void;
    };
}

export interface ConnectOptions extends BridgeOptions {
    /** Try again where no daemon answers, or it is busy, until one does. */
    waitForDaemon?: boolean;
}

/** What containers of web views do with the bridge of their page. */
export interface Container {
    /** A message for the page, or an array of them, as text or as a value. */
    receive(message: string | object): void;
    /**
     * The page's session is over and messages now go to a new one. Calls in flight end with `session.closed`;
     * registrations and subscriptions follow.
     */
    sessionLost(): void;
}

/** A bridge to the daemon. Nothing is opened before its first use. */
export interface Bridge extends StreamMaker {}
export class Bridge {
    constructor(options?: BridgeOptions);

    /**
     * Calls a task, and hears of its end by a callback, which is called exactly once, and never before this returns.
     */
    call<Result = any>(task: string, callback: Callback<Result>): CancellableCall;
    call<Result = any, Options = unknown, Progress = any>(
        task: string, options: Options, callback: Callback<Result>, settings?: CallSettings<Progress>
    ): CancellableCall;
    /**
     * Calls a task. Rejects with BridgeError, and with nothing else. Absent options are `{}`. A `ReadableStream`, or
     * what `stream` makes, may stand anywhere in them.
     */
    call<Result = any, Options = unknown, Progress = any>(
        task: string, options?: Options, settings?: CallSettings<Progress>
    ): Promise<Result>;

    /**
     * The pages of a table, such as `bridge.sessions` or `persistence.query`: the results of calls, each of which goes
     * on where the one before ended. The settings are those of each call.
     */
    pages<Page extends { cursor?: string } = any, Options extends object = object>(
        task: string, options?: Options, settings?: CallSettings
    ): AsyncGenerator<Page, void, void>;

    /**
     * Calls a task without hearing what became of it. Resolves when the message was handed to the carrier; rejects
     * where it could not be sent. The promise need not be looked at.
     */
    notify<Options = unknown>(task: string, options?: Options, settings?: { session?: number }): Promise<void>;

    /**
     * Provides a task until its registration ends, over reconnects too. Resolves when the daemon has taken it.
     * @throws `task.exists` where the name belongs to a plugin, or what else the daemon says.
     */
    register<Options = any, Result = unknown, Progress = unknown>(
        task: string, handler: TaskHandler<Options, Result, Progress>, settings?: RegisterSettings
    ): Promise<Registration>;

    /**
     * Listens to events: names, or beginnings of names with `*` behind; over reconnects too.
     * @throws `options.invalid` where the patterns, the listener or the settings make no sense.
     */
    subscribe<Data = any>(
        patterns: string | readonly string[], listener: (event: BridgeEvent<Data>) => void,
        settings?: SubscribeSettings): Subscription;
    /** The same for a reader, which takes the events one by one. */
    subscribe<Data = any>(patterns: string | readonly string[], settings?: StreamSettings): EventStream<Data>;
    /** Sends an event to its subscribers. `retain`: and to those who subscribe later. */
    publish(event: string, data?: unknown, settings?: { retain?: boolean }): Promise<void>;

    readonly state: BridgeState;
    /** What the daemon of the current session said of itself. */
    readonly hello: Hello | undefined;
    /** Bytes that wait to be sent. */
    readonly queuedBytes: number;

    /** Resolves when the bridge is open; rejects with what the attempt under way, or the next one, fails with. */
    open(): Promise<Hello | undefined>;
    /**
     * Ends the bridge: calls in flight are cancelled and end with `session.closed`, one-way calls that were made are
     * still sent. Resolves when the daemon has closed its end too, after a second at the latest.
     */
    close(): Promise<void>;

    /** Has an open bridge keep a Node process alive, as it does from the beginning. */
    ref(): void;
    /** Lets a Node process end although the bridge is open. */
    unref(): void;

    /** Reports each change of `state`. Returns the function that ends it. */
    onState(listener: (change: StateChange) => void): () => void;
    /**
     * Reports what concerns no call: a message that was not understood, an exception of a callback or listener, a
     * registration that the next daemon refused. Without a listener such things are written to the console. Returns the
     * function that ends it.
     */
    onProblem(listener: (problem: unknown) => void): () => void;

    readonly container: Container;
}

/**
 * Opens a bridge; rejects where the first attempt fails, and leaves nothing behind then. With `waitForDaemon` it
 * rejects only where a further attempt makes no sense. In a web view, where no carrier is named, it is WebBridge.
 */
export function connect(options?: ConnectOptions): Promise<Bridge>;

/** The bridge that a page or a program shares: over what its surroundings offer, opened with its first use. */
export const WebBridge: Bridge;
