// What both ends of a stream of the daemon have in common: how they end before the stream is complete.

import { BridgeError, describe } from "./errors.js";
import { byteLength } from "./messages.js";

/** The longest reason, as JSON: its message fits into what any daemon takes, which is 1 KiB or more. */
const maxReasonBytes = 600;

/** Ends a stream before it is complete. The other side gets the reason, where there is one. */
export async function endEarly(call, stream, side, id, reason) {
    let error;
    if (reason instanceof BridgeError) error = { code: reason.code, message: shortened(reason.message) };
    else if (reason !== undefined) error = { code: "call.cancelled", message: shortened(describe(reason)) };
    try {
        await call("bridge.stream.close", { stream, side, call: id, error });
    } catch (failure) {
        // It is over already.
        if (failure.code !== "stream.not_found" && failure.code !== "session.closed") throw failure;
    }
}

/** The text, or its beginning and "…" where it is too long for a reason. */
function shortened(text) {
    // Half a surrogate pair has no JSON.
    const whole = text.replace(/\p{Surrogate}/gu, "\ufffd");
    let short = whole;
    for (let count = whole.length; ;) {
        const bytes = byteLength(JSON.stringify(short));
        if (bytes <= maxReasonBytes) return short;
        count = Math.floor(count * maxReasonBytes / bytes);
        short = `${whole.slice(0, count).replace(/[\ud800-\udbff]$/, "")}…`;
    }
}
