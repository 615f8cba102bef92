// Calls of tasks, and tasks that this end provides. All durations are in milliseconds.

import "./disposal.js";
import type { BridgeError } from "./errors.js";
import type { StreamMaker } from "./streams.js";

/** Any JSON. */
export type JSONValue = null | boolean | number | string | JSONValue[] | { [key: string]: JSONValue };

/**
 * Whether a call is made again: after the error's `retryAfter` or a growing pause, at most 5 times in all, within the
 * `timeout`.
 *
 * - `never`: the default.
 * - `unstarted`: where the error is transient and nothing was done (`started` is false, or the code is `busy`).
 * - `transient`: wherever the error is transient. For calls that do no harm when they are done twice.
 */
export type Retry = "never" | "unstarted" | "transient";

export interface CallSettings<Progress = unknown> {
    /** Aborting it cancels the call, which ends immediately with `call.cancelled`. Aborted already: nothing is sent. */
    signal?: AbortSignal;
    /**
     * How long to wait, above 0 and at most a year, or `Infinity`; the time of waiting for a connection counts. The
     * call ends with `call.timeout` then, even where no daemon is there to say so. Without it the task's or the
     * daemon's own deadline holds, and a call that cannot be sent ends after `maxWait`.
     */
    timeout?: number;
    retry?: Retry;
    /**
     * Called with intermediate results, in order, before the call ends. All but the newest may be left out: bytes, or
     * data that must all arrive, go as a stream.
     */
    onProgress?: (value: Progress, sequence: number) => void;
    /** Only the provider of this session. */
    session?: number;
    /** Where it has the format `trestle-stream`, a `ReadableStream` stands in the result. */
    resultSchema?: JSONSchema;
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
export interface IncomingCall<Progress = unknown> extends StreamMaker {
    readonly task: string;
    readonly caller: Caller;
    /** How long the caller still waits, computed when it is read, 0 at least; undefined: the call has no deadline. */
    readonly timeRemaining: number | undefined;
    /** Whether the caller takes intermediate results. */
    readonly wantsProgress: boolean;
    /** Nobody hears what becomes of the call. */
    readonly isOneWay: boolean;
    /** Aborted when the caller no longer waits: it cancelled, timed out or left, or the connection was lost. */
    readonly signal: AbortSignal;
    /**
     * Sends an intermediate result, and never waits. Returns whether it was taken; false: the caller wants none, the
     * call has ended, it is longer than a message may be, or too much is waiting to be sent. The caller may get the
     * newest one only: bytes, or data that must all arrive, go as a stream.
     * @throws BridgeError where the value has no JSON.
     */
    reportProgress(value: Progress): boolean;
}

/**
 * What a provided task does with a call. What it returns is the result (`undefined` is null), in which streams may
 * stand: a `ReadableStream`, or what `stream` makes. In the options a `ReadableStream` stands in place of the name where
 * the schema of the task's `description` has the format `trestle-stream`. A BridgeError that it throws is the call's
 * error, any other exception becomes `internal` with the exception's message.
 */
export type TaskHandler<Options = any, Result = unknown, Progress = unknown> =
    (options: Options, call: IncomingCall<Progress>) => Result | Promise<Result>;

/** A JSON Schema. */
export type JSONSchema = boolean | { [keyword: string]: any };

/** What the daemon knows of a task. It refuses options that do not fit before the handler hears of the call. */
export interface TaskDescription {
    /** One line, at most 256 bytes. */
    summary?: string;
    options?: JSONSchema;
    result?: JSONSchema;
    progress?: JSONSchema;
}

export interface RegisterSettings {
    /** `any` (the default): the calls of all sessions; `session`: only those that name this session. */
    scope?: "any" | "session";
    description?: TaskDescription;
    /** Aborting it ends the registration. Aborted before there is one: `register` rejects with `call.cancelled`. */
    signal?: AbortSignal;
}

/** A task that this end provides, over reconnects too. */
export interface Registration {
    readonly task: string;
    /**
     * No longer provides the task; calls that have come already go on. Resolves when the daemon knows it. Does nothing
     * where the task has been registered again since, or the bridge is closed.
     */
    unregister(): Promise<void>;
    /** The same, at the end of an `await using`. Only where the platform has `Symbol.asyncDispose`. */
    [Symbol.asyncDispose](): Promise<void>;
}
