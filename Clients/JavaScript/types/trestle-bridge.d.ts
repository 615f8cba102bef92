// The types of the library's public interface. All durations are in milliseconds.

/** Any JSON. */
export type JSONValue = null | boolean | number | string | JSONValue[] | { [key: string]: JSONValue };

/** An error object as it travels. */
export interface ErrorObject<Data = unknown> {
    /** What went wrong, for programs; stable. */
    code: string;
    /** A sentence for a person; may change from version to version. */
    message: string;
    data?: Data;
    /** The same call may succeed later. */
    transient?: boolean;
    /** Milliseconds after which trying again makes sense. */
    retryAfter?: number;
}

/**
 * What every call of this library rejects with. Codes are those of the protocol; the library adds `daemon.unreachable`
 * (nobody listens, or nobody answers) and `connection.denied` (this user may not open the socket).
 */
export class BridgeError<Data = unknown> extends Error {
    constructor(
        code: string, message: string,
        details?: { data?: Data; transient?: boolean; retryAfter?: number; cause?: unknown });
    readonly name: "BridgeError";
    /** What went wrong, for programs; stable. */
    readonly code: string;
    readonly data: Data;
    /** The same call may succeed later. */
    readonly transient: boolean;
    /** Milliseconds after which trying again makes sense. */
    readonly retryAfter: number | undefined;
    /** What is behind it: the reason of an AbortSignal, or an error of the socket. */
    readonly cause?: unknown;
    /**
     * Whether the work of the call may have begun: `false` means that nothing was done and sending it again is safe,
     * `true` that it may have had its effect, `undefined` that nobody says.
     */
    readonly started: boolean | undefined;
    /** The error object as it travels. */
    toJSON(): ErrorObject<Data>;
    /** Reads an error object; undefined where it is none. */
    static from(json: unknown): BridgeError | undefined;
}

export interface CallSettings<Progress = unknown> {
    /** Aborting it cancels the call, which ends at once with `call.cancelled`. Aborted already: nothing is sent. */
    signal?: AbortSignal;
    /**
     * How long to wait, above 0, at most a year; the time of waiting for a connection counts. The call ends with
     * `call.timeout` then, even where no daemon is there to say so. Without it the task's or the daemon's own deadline
     * holds, and a call that cannot be sent ends after `waitMs`.
     */
    timeout?: number;
    /** Called with each intermediate result, in order, before the call ends. Numbers may be missing. */
    onProgress?: (value: Progress, sequence: number) => void;
    /** Only the provider of this session. */
    session?: number;
    /**
     * How often the call may be made in all, 1 at least and unless told otherwise. It is made again where its error is
     * transient and nothing was done (`started` is false, or it is `busy`), after the error's `retryAfter` or a growing
     * pause, within the `timeout`.
     */
    attempts?: number;
    /** Doing it twice does no harm: with `attempts`, whatever is transient is made again. */
    idempotent?: boolean;
}

/** How hybrid pages hear of a call's end: one argument on success, `undefined` and the error otherwise. */
export type Callback<Result = unknown> = (result: Result | undefined, error: BridgeError | null) => void;

/** A call that was made with a callback. */
export interface CancellableCall {
    /** Ends the call with `call.cancelled`; does nothing where it has ended. */
    cancel(): void;
}

/** Who calls, as the daemon says. */
export interface Caller {
    /** The caller's session; 0: the daemon or a plugin. */
    session: number;
    uid?: number;
    /** What the session speaks for; `local` unless it named something else. */
    origin: string;
    /** Who is logged in there. */
    user: string | null;
}

/** A call of a task that this end provides. */
export interface IncomingCall<Progress = unknown> {
    readonly task: string;
    readonly caller: Caller;
    /** What is left of the deadline when the call came; undefined: it has none. */
    readonly timeoutMs: number | undefined;
    /** Whether the caller takes intermediate results. */
    readonly wantsProgress: boolean;
    /** Nobody hears what becomes of the call. */
    readonly isOneWay: boolean;
    /** Aborted when nobody waits any more: the caller cancelled, timed out or left, or the connection was lost. */
    readonly signal: AbortSignal;
    /**
     * Sends an intermediate result. Returns false where it was not: the caller wants none, the call has ended, or too
     * much is waiting to be sent.
     * @throws BridgeError where the value has no JSON.
     */
    progress(value: Progress): boolean;
}

/**
 * What a provided task does with a call. What it returns is the result (`undefined` is null); a BridgeError that it
 * throws is the call's error, any other exception becomes `internal` with the exception's message.
 */
export type TaskHandler<Options = any, Result = unknown, Progress = unknown> =
    (options: Options, call: IncomingCall<Progress>) => Result | Promise<Result>;

export interface RegisterSettings {
    /** `any` (the default): everybody's calls; `session`: only those that name this session. */
    scope?: "any" | "session";
}

export interface BridgeEvent<Data = unknown> {
    /** Its name. */
    event: string;
    data: Data;
}

/** Ends a subscription. */
export interface Unsubscribe {
    (): void;
    /**
     * Resolves when the daemon has been told of the subscription; rejects with its refusal. It need not be looked at.
     */
    readonly ready: Promise<void>;
}

/**
 * Events for one reader. One that falls behind loses the oldest and gets the event `bridge.events_dropped` with their
 * `count` instead. Ends when the bridge is closed, and with `break` or `return()`.
 */
export interface EventQueue<Data = unknown> extends AsyncIterableIterator<BridgeEvent<Data>> {
    readonly ready: Promise<void>;
    /** Ends the subscription. What waits is still handed out. */
    end(): void;
    return(): Promise<IteratorResult<BridgeEvent<Data>>>;
}

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
 * - `open`: calls are sent at once.
 * - `waiting`: the connection was lost, or an attempt failed; the next one follows. Calls wait.
 * - `closed`: it is over. Every call ends with `session.closed`.
 */
export type BridgeState = "idle" | "connecting" | "open" | "waiting" | "closed";

export interface StateChange {
    state: BridgeState;
    /** `waiting`, `closed`: why. */
    error?: BridgeError;
    /** `waiting`: milliseconds until the next attempt. */
    delayMs?: number;
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
    /** A handler of a web view's container; what comes in has to be given to `receive`. */
    handler?: { postMessage(text: string): unknown };
    /** What this client says of itself. */
    hello?: {
        client?: string; version?: string; userAgent?: string; origin?: string;
        page?: { url?: string; title?: string };
    };
    /** How long a call without a `timeout` waits for a connection; 60,000 unless told otherwise. */
    waitMs?: number;
    /** How many calls may wait for a connection; beyond, they end with `busy`. 1,024. */
    maxWaitingCalls?: number;
    /** How long the messages of calls that wait for a connection may be together, about; beyond, `busy`. 4 MiB. */
    maxWaitingBytes?: number;
    /** How much later than a call's timeout this end gives up waiting for the daemon to report it; 2,000. */
    graceMs?: number;
    /** How long a daemon may take to answer when connecting; 10,000. */
    connectTimeoutMs?: number;
    /** Bytes that may wait to be sent over a connection; beyond, calls end with `busy`. 4 MiB. */
    maxQueuedBytes?: number;
    /** Node: the longest line that is read from the daemon, in bytes; 64 MiB. */
    maxLineBytes?: number;
    /**
     * Pauses between attempts to connect: from `firstMs` (100) doubling up to `longestMs` (15,000), scattered by
     * `random`.
     */
    backoff?: { firstMs?: number; longestMs?: number; random?: () => number };
    /** Where the library takes its time from; for tests. */
    clock?: {
        now(): number;
        setTimeout(action: () => void, delayMs: number): unknown;
        clearTimeout(handle: any): void;
    };
}

/** A bridge to the daemon. Nothing is opened before its first use. */
export class Bridge {
    constructor(options?: BridgeOptions);

    /**
     * Calls a task, and hears of its end by a callback, which is called exactly once, and never before this returns.
     */
    call<Result = any>(task: string, callback: Callback<Result>): CancellableCall;
    call<Result = any, Options = unknown, Progress = any>(
        task: string, options: Options, callback: Callback<Result>, settings?: CallSettings<Progress>
    ): CancellableCall;
    /** Calls a task. Rejects with BridgeError, and with nothing else. Absent options are `{}`. */
    call<Result = any, Options = unknown, Progress = any>(
        task: string, options?: Options, settings?: CallSettings<Progress>
    ): Promise<Result>;

    /**
     * The pages of a table, such as `bridge.sessions` or `persistence.query`: the results of calls, each of which goes on
     * where the one before ended. The settings are those of each call.
     */
    pages<Page extends { cursor?: string } = any, Options extends object = object>(
        task: string, options?: Options, settings?: CallSettings
    ): AsyncGenerator<Page, void, void>;

    /**
     * Calls a task without hearing what became of it. Resolves when the message was handed to the carrier; rejects
     * where it could not be sent. The promise need not be looked at.
     */
    send<Options = unknown>(task: string, options?: Options, settings?: { session?: number }): Promise<void>;

    /**
     * Provides a task until `unregister`, over reconnects too. Resolves when the daemon has taken it.
     * @throws `task.exists` where the name belongs to a plugin, or what else the daemon says.
     */
    register<Options = any, Result = unknown, Progress = unknown>(
        task: string, handler: TaskHandler<Options, Result, Progress>, settings?: RegisterSettings): Promise<void>;
    /** Provides a task no more; calls that have come already go on. */
    unregister(task: string): Promise<void>;

    /** Listens to events: names, or beginnings of names with `*` behind; over reconnects too. */
    subscribe<Data = any>(
        patterns: string | readonly string[], listener: (event: BridgeEvent<Data>) => void): Unsubscribe;
    /** The same for a reader. `capacity`: how many events wait for it, 1 at least; 1,024 unless told otherwise. */
    events<Data = any>(patterns: string | readonly string[], settings?: { capacity?: number }): EventQueue<Data>;
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

    /** Tells of each change of `state`. Returns the function that ends it. */
    onState(listener: (change: StateChange) => void): () => void;
    /**
     * Tells what concerns no call: a message that was not understood, an exception of a callback or listener, a
     * registration that the next daemon refused. Without a listener such things are written to the console. Returns the
     * function that ends it.
     */
    onProblem(listener: (problem: unknown) => void): () => void;

    /** For containers of web views: a message for the page, or an array of them, as text or as a value. */
    receive(message: string | object): void;
    /**
     * For containers: the page's session is over and messages now go to a new one. Registrations and subscriptions
     * follow.
     */
    sessionLost(): void;
}

/**
 * Opens a bridge; rejects where the first attempt fails, and leaves nothing behind then. In a web view, where no
 * carrier is named, it is WebBridge.
 */
export function connect(options?: BridgeOptions): Promise<Bridge>;

/** The bridge that a page or a program shares: over what its surroundings offer, opened with its first use. */
export const WebBridge: Bridge;
