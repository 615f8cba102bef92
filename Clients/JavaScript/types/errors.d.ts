// Errors of calls.

/** The JSON form of an error in the protocol. */
export interface ErrorObject<Data = unknown> {
    /** The kind of error, for programs; stable. */
    code: string;
    /** A sentence for a person; may change from version to version. */
    message: string;
    data?: Data;
    /** Whether the same call may succeed later. */
    transient?: boolean;
    /** The number of milliseconds to wait before the next attempt. */
    retryAfter?: number;
}

/**
 * The error with which every call of this library rejects. Codes are those of the protocol. The library adds
 * `daemon.unreachable` (no daemon listens or answers) and `connection.denied` (this user may not open the socket).
 */
export class BridgeError<Data = unknown> extends Error {
    constructor(
        code: string, message: string,
        details?: { data?: Data; transient?: boolean; retryAfter?: number; cause?: unknown });
    readonly name: "BridgeError";
    /** The kind of error, for programs; stable. */
    readonly code: string;
    readonly data: Data;
    /** Whether the same call may succeed later. */
    readonly transient: boolean;
    /** The number of milliseconds to wait before the next attempt; `undefined` if it is unknown. */
    readonly retryAfter: number | undefined;
    /** The underlying cause: the reason of an AbortSignal, or an error of the socket. */
    readonly cause?: unknown;
    /**
     * Whether the work of the call may have begun. `false`: nothing was done, and it is safe to send the call again.
     * `true`: the call may have had its effect. `undefined`: unknown.
     */
    readonly started: boolean | undefined;
    /** Returns the error object of the protocol. */
    toJSON(): ErrorObject<Data>;
    /** Reads an error object. Returns `undefined` if the value is not an error object. */
    static from(json: unknown): BridgeError | undefined;
}
