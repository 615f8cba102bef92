// Errors of calls.

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
 * (no daemon listens, or none answers) and `connection.denied` (this user may not open the socket).
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
     * `true` that it may have had its effect, `undefined` that it is not known.
     */
    readonly started: boolean | undefined;
    /** The error object as it travels. */
    toJSON(): ErrorObject<Data>;
    /** Reads an error object; undefined where it is none. */
    static from(json: unknown): BridgeError | undefined;
}
