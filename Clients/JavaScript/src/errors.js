// The one class of errors that this library rejects with, and the errors that it makes itself.
//
// Codes are those of the protocol. The library adds `daemon.unreachable` and `connection.denied`, which no daemon can
// send.

/** An error of a call: from the daemon, from the task, or from this library. */
export class BridgeError extends Error {
    /**
     * @param {string} code the kind of error, for programs; not empty
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
     * Whether the work of the call may have begun. `false`: nothing was done, and it is safe to send the call again.
     * `true`: the call may have had its effect. `undefined`: unknown.
     */
    get started() {
        const started = isObject(this.data) ? this.data.started : undefined;
        return typeof started === "boolean" ? started : undefined;
    }

    /** Returns the error object of the protocol. */
    toJSON() {
        const json = { code: this.code, message: this.message };
        if (this.data !== undefined) json.data = this.data;
        if (this.transient) json.transient = true;
        if (this.retryAfter !== undefined) json.retryAfter = this.retryAfter;
        return json;
    }

    /** Reads an error object of the protocol. Returns `undefined` if the value is not an error object. */
    static from(json) {
        if (!isObject(json) || typeof json.code !== "string" || json.code === "") return undefined;
        if (typeof json.message !== "string") return undefined;
        const retryAfter = typeof json.retryAfter === "number" ? json.retryAfter : undefined;
        return new BridgeError(json.code, json.message, {
            data: json.data, transient: json.transient === true, retryAfter,
        });
    }
}

/** The end of the text of errors about a too long message; the daemon uses the same text. */
export const goesAsStream = "send data of this size as a stream";

/** Whether a JSON value is an object (not an array). */
export function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the error for a daemon that does not listen or does not answer. */
export function unreachable(reason, data) {
    const place = data?.path === undefined ? "" : ` at ${data.path}`;
    return new BridgeError("daemon.unreachable", `no daemon${place}: ${reason}`, { data, transient: true });
}

/** Returns the error for a connection that this client did not close. */
export function connectionLost(reason) {
    return new BridgeError("session.closed", `the connection to the daemon was lost (${reason})`, { transient: true });
}

/** Returns the error for a connection that this client closed. */
export function closedHere() {
    return new BridgeError("session.closed", "the connection to the daemon was closed here");
}

/** Returns the error for a session that `closeWeb` ended. No other session follows. */
export function closedOnPurpose(info) {
    const message = "the daemon closed this session on purpose (closeWeb)";
    return new BridgeError("session.closed", message, { data: { info } });
}

/** Returns a copy of the error for one call. `started` states whether the call may have begun. */
export function forCall(error, started) {
    const data = { ...(isObject(error.data) ? error.data : {}), started };
    return new BridgeError(error.code, error.message, {
        data, transient: error.transient, retryAfter: error.retryAfter, cause: error.cause,
    });
}

/** Returns the error for a call that this client cancelled. */
export function cancelledHere(task, started, cause) {
    const name = typeof task === "string" ? task : "a task";
    return new BridgeError("call.cancelled", `the call of ${name} was cancelled here`, { data: { started }, cause });
}

/** Returns the error for a call that this client refuses. */
export function notBegun(code, message) {
    return new BridgeError(code, message, { data: { started: false } });
}

/** Returns the error of a call that `error` ends. `started` states whether the call may have begun. */
export function ending(error, task, started) {
    const effect = started ? "may have had its effect" : "had not been sent";
    const ended = forCall(error, started);
    ended.message = `${error.message}; the call of ${task} ${effect}`;
    return ended;
}

/** Returns the text of any thrown value. */
export function describe(thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
}
