// The arguments of a call, checked before anything is sent.

import { forCall, notBegun } from "./errors.js";
import { byteLength, encodeValue } from "./messages.js";

/** The longest `timeout` in milliseconds, a year. */
const maxTimeout = 365 * 24 * 60 * 60 * 1000;
/** The maximum number of bytes in a message besides task and options. */
const envelopeBytes = 96;

/**
 * Checks the arguments.
 * @returns `timeout` in whole milliseconds, `optionsText`, and `bytes`, the approximate length of the message
 * @throws {BridgeError} if an argument is invalid; `started` is false
 */
export function checkArguments(task, options, { timeout, session }) {
    if (typeof task !== "string" || task === "") {
        throw notBegun("task.not_found", "a call needs the name of a task; bridge.tasks lists the tasks");
    }
    if (timeout !== undefined && !isTimeout(timeout)) {
        const reason = "a timeout is a number of milliseconds above 0 and at most a year, or Infinity for none";
        throw notBegun("options.invalid", reason);
    }
    if (session !== undefined && !Number.isSafeInteger(session)) {
        throw notBegun("options.invalid", "a session is an integer");
    }
    const optionsText = options === undefined ? undefined : optionsTextOf(task, options);
    return {
        timeout: timeout === undefined ? undefined : Math.ceil(timeout),
        optionsText,
        bytes: envelopeBytes + byteLength(task) + (optionsText ? byteLength(optionsText) : 0),
    };
}

function isTimeout(value) {
    return typeof value === "number" && value > 0 && (value <= maxTimeout || value === Infinity);
}

function optionsTextOf(task, options) {
    try {
        return encodeValue(options, "options.invalid", `the options of ${task}`);
    } catch (error) {
        throw forCall(error, false);
    }
}
