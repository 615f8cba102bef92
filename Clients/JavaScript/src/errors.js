// The one kind of error that this library rejects with, and the errors that it makes itself.
//
// Codes are those of the protocol. The library adds what no daemon can say: `daemon.unreachable` and
// `connection.denied`.

/** An error of a call: what the daemon or the task said, or what the library found out by itself. */
export class BridgeError extends Error {
    /**
     * @param {string} code what went wrong, for programs; not empty
     * @param {string} message a sentence for a person
     * @param {{data?: unknown, transient?: boolean, retryAfter?: number, cause?: unknown}} [details]
     */
    constructor(code, message, details = {}) {
        super(String(message));
        if (typeof code !== "string" || code === "") throw new TypeError("the code of an error is a string, not empty");
        this.name = "BridgeError";
        this.code = code;
        this.data = details.data;
        this.transient = details.transient === true;
        this.retryAfter = details.retryAfter;
        if (details.cause !== undefined) this.cause = details.cause;
    }

    /**
     * Whether the work of the call may have begun: `false` means that nothing was done and sending it again is safe,
     * `true` that it may have had its effect, `undefined` that it is unknown.
     */
    get started() {
        const started = isObject(this.data) ? this.data.started : undefined;
        return typeof started === "boolean" ? started : undefined;
    }

    /** The error object as it travels. */
    toJSON() {
        const json = { code: this.code, message: this.message };
        if (this.data !== undefined) json.data = this.data;
        if (this.transient) json.transient = true;
        if (this.retryAfter !== undefined) json.retryAfter = this.retryAfter;
        return json;
    }

    /** Reads an error object of the protocol; undefined where it is none. */
    static from(json) {
        if (!isObject(json) || typeof json.code !== "string" || json.code === "") return undefined;
        if (typeof json.message !== "string") return undefined;
        const retryAfter = typeof json.retryAfter === "number" ? json.retryAfter : undefined;
        return new BridgeError(json.code, json.message, {
            data: json.data, transient: json.transient === true, retryAfter,
        });
    }
}

/** What errors about a message that is too long end with, as the daemon's do. */
export const goesAsStream = "bytes of this size go as a stream";

/** Whether a JSON value is an object (and no array). */
export function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** No one listens, or no answer comes. */
export function unreachable(reason, data) {
    const place = data?.path === undefined ? "" : ` at ${data.path}`;
    return new BridgeError("daemon.unreachable", `no daemon${place}: ${reason}`, { data, transient: true });
}

/** The end of a connection that this end did not want. */
export function connectionLost(reason) {
    return new BridgeError("session.closed", `the connection to the daemon was lost (${reason})`, { transient: true });
}

/** The end of a connection that this end wanted. */
export function closedHere() {
    return new BridgeError("session.closed", "the connection to the daemon was closed here");
}

/** The end that `closeWeb` brings: there shall be no other session. */
export function closedOnPurpose(info) {
    const message = "the daemon closed this session on purpose (closeWeb)";
    return new BridgeError("session.closed", message, { data: { info } });
}

/** The same error, for one call: with what is known of its work. */
export function forCall(error, started) {
    const data = { ...(isObject(error.data) ? error.data : {}), started };
    return new BridgeError(error.code, error.message, {
        data, transient: error.transient, retryAfter: error.retryAfter, cause: error.cause,
    });
}

/** A call that was ended here because its signal was aborted. */
export function cancelledHere(task, started, cause) {
    const name = typeof task === "string" ? task : "a task";
    return new BridgeError("call.cancelled", `the call of ${name} was cancelled here`, { data: { started }, cause });
}

/** A call that is refused here. */
export function notBegun(code, message) {
    return new BridgeError(code, message, { data: { started: false } });
}

/** What a call of this task ends with that is ended by this error: whether it may have begun is known. */
export function ending(error, task, started) {
    const effect = started ? "may have had its effect" : "had not been sent";
    const ended = forCall(error, started);
    ended.message = `${error.message}; the call of ${task} ${effect}`;
    return ended;
}

/** Any thrown value in words. */
export function describe(thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
}
