// Calls of tasks, and tasks that this client provides. All durations are in milliseconds.

import "./disposal.js";
import type { BridgeError } from "./errors.js";
import type { StreamMaker } from "./streams.js";

/** Any JSON value. */
export type JSONValue = null | boolean | number | string | JSONValue[] | { [key: string]: JSONValue };

/**
 * When a failed call is made again. It is made again after the error's `retryAfter` or a growing pause, at most 5 times
 * in total, within the `timeout`.
 *
 * - `never`: never. This is the default.
 * - `unstarted`: if the error is transient and nothing was done (`started` is `false`).
 * - `transient`: if the error is transient. For calls that can be repeated without harm.
 *
 * A call that was cancelled, timed out or found no daemon is not made again.
 */
export type Retry = "never" | "unstarted" | "transient";

export interface CallSettings<Progress = unknown> {
    /**
     * A signal that cancels the call. The call then ends immediately with `call.cancelled`. If the signal is already
     * aborted, nothing is sent.
     */
    signal?: AbortSignal;
    /**
     * The time after which the call ends with `call.timeout`: above 0 and at most a year, or `Infinity`. It includes
     * the time of waiting for a connection, and it applies even if no daemon answers. Without it, the deadline of the
     * task or of the daemon applies, and a call that cannot be sent ends after `maxWait`.
     */
    timeout?: number;
    retry?: Retry;
    /**
     * Called with intermediate results, in order, before the call ends. All but the newest may be omitted. Use a stream
     * for bytes, or for data that must arrive completely.
     */
    onProgress?: (value: Progress, sequence: number) => void;
    /** The session that must execute the call: only its provider of the task receives it. */
    session?: number;
    /** The schema of the result. Where it has the format `trestle-stream`, the result contains a `ReadableStream`. */
    resultSchema?: JSONSchema;
}

/**
 * The callback that receives the end of a call: the result and `null` on success, `undefined` and the error otherwise.
 */
export type Callback<Result = unknown> = (result: Result | undefined, error: BridgeError | null) => void;

/** A call that was made with a callback. */
export interface CancellableCall {
    /** Ends the call with `call.cancelled`. Does nothing if the call has ended. */
    cancel(): void;
}

/** The caller of a task, as the daemon reports it. */
export interface Caller {
    /** The caller's session; 0 for the daemon or a plugin. */
    session: number;
    uid?: number;
    /** The origin that the session represents; `local` unless the session named another one. */
    origin: string;
    /** The user who is logged in at this origin; `null` if there is none. */
    user: string | null;
}

/** A call of a task that this client provides. */
export interface IncomingCall<Progress = unknown> extends StreamMaker {
    readonly task: string;
    readonly caller: Caller;
    /** The time until the deadline, computed at each access, at least 0; `undefined` if the call has no deadline. */
    readonly timeRemaining: number | undefined;
    /** Whether the caller accepts intermediate results. */
    readonly wantsProgress: boolean;
    /** Whether the caller receives no result and no error. */
    readonly isOneWay: boolean;
    /**
     * A signal that is aborted when the caller no longer waits: it cancelled the call, timed out or disconnected, or
     * the connection was lost.
     */
    readonly signal: AbortSignal;
    /**
     * Sends an intermediate result. Never waits. Returns whether the value was accepted. It is not accepted if the
     * caller does not request progress, if the call has ended, if the message is too long, or if too many bytes are
     * waiting. The caller may receive only the newest value. Use a stream for bytes, or for data that must arrive
     * completely.
     * @throws BridgeError if the value cannot be encoded as JSON.
     */
    reportProgress(value: Progress): boolean;
}

/**
 * The function that executes a call of a provided task. Its return value is the result; `undefined` becomes null. The
 * result may contain streams: a `ReadableStream`, or the value of `stream`. Where the options schema of the task's
 * `description` has the format `trestle-stream`, the options contain a `ReadableStream` instead of the name. A
 * BridgeError that it throws is the error of the call. Any other exception becomes `internal` with the exception's
 * message.
 */
export type TaskHandler<Options = any, Result = unknown, Progress = unknown> =
    (options: Options, call: IncomingCall<Progress>) => Result | Promise<Result>;

/** A JSON Schema. */
export type JSONSchema = boolean | { [keyword: string]: any };

/** The description of a task. The daemon refuses options that do not match it before it forwards the call. */
export interface TaskDescription {
    /** One line of at most 256 bytes. */
    summary?: string;
    options?: JSONSchema;
    result?: JSONSchema;
    progress?: JSONSchema;
}

export interface RegisterSettings {
    /** The calls to receive. `any` (the default): calls of all sessions. `session`: calls that name this session. */
    scope?: "any" | "session";
    description?: TaskDescription;
    /**
     * A signal that ends the registration. If it is aborted before the task is registered, `register` rejects with
     * `call.cancelled`.
     */
    signal?: AbortSignal;
}

/** The registration of a task that this client provides. It survives reconnects. */
export interface Registration {
    readonly task: string;
    /**
     * Ends the registration. Calls that have already arrived continue. Resolves when the daemon has confirmed it. Does
     * nothing if the task has been registered again since, or if the bridge is closed.
     */
    unregister(): Promise<void>;
    /** Calls `unregister` at the end of an `await using`. Exists only if the platform has `Symbol.asyncDispose`. */
    [Symbol.asyncDispose](): Promise<void>;
}
