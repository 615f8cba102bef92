// Ends a stream of the daemon before it is complete, from either end.

import { BridgeError, describe } from "./errors.js";
import { byteLength } from "./messages.js";

/** The maximum length of a reason as JSON. Its message fits into the limit of any daemon, which is at least 1 KiB. */
const maxReasonBytes = 600;

/** Ends a stream before it is complete. The other side gets the reason, if there is one. */
export async function endEarly(call, stream, side, id, reason) {
    let error;
    if (reason instanceof BridgeError) error = { code: reason.code, message: shortened(reason.message) };
    else if (reason !== undefined) error = { code: "call.cancelled", message: shortened(describe(reason)) };
    try {
        await call("bridge.stream.close", { stream, side, call: id, error });
    } catch (failure) {
        // The stream has already ended.
        if (failure.code !== "stream.not_found" && failure.code !== "session.closed") throw failure;
    }
}

/** Returns the text, or its beginning and "…" if it is too long for a reason. */
function shortened(text) {
    // An unpaired surrogate has no valid JSON.
    const whole = text.replace(/\p{Surrogate}/gu, "\ufffd");
    let short = whole;
    for (let count = whole.length; ;) {
        const bytes = byteLength(JSON.stringify(short));
        if (bytes <= maxReasonBytes) return short;
        count = Math.floor(count * maxReasonBytes / bytes);
        short = `${whole.slice(0, count).replace(/[\ud800-\udbff]$/, "")}…`;
    }
}
