// Calls that are made again as their `retry` specifies. Each attempt is a separate call; the program sees one call.

import { Backoff } from "./backoff.js";
import { cancelledHere, notBegun } from "./errors.js";
import { maySendAgain, streamsIn } from "./streamValues.js";

/** The maximum number of attempts, including the first. */
const maxAttempts = 5;

export class RepeatedCalls {
    #calls;
    #timers;
    #pausing = new Set();

    constructor(calls, timers) {
        this.#calls = calls;
        this.#timers = timers;
    }

    /** Begins a call like Calls.begin, with `retry` in the settings. */
    begin(task, options, settings) {
        const { retry = "never", timeout } = settings;
        if (retry === "never") return this.#calls.begin(task, options, settings);
        if (retry !== "unstarted" && retry !== "transient") {
            const error = notBegun("options.invalid", "retry is one of never, unstarted and transient");
            return { promise: Promise.reject(error), cancel: () => {} };
        }
        // A source that can be read only once is sent only once.
        if (!maySendAgain(streamsIn(options))) return this.#calls.begin(task, options, settings);
        const call = { task, options, settings, attemptsLeft: maxAttempts, retry, cancel: undefined };
        // The first attempt detects an invalid timeout.
        call.deadline = typeof timeout === "number" ? this.#timers.now() + timeout : undefined;
        return { promise: this.#run(call), cancel: () => call.cancel?.() };
    }

    async #run(call) {
        const backoff = new Backoff();
        let timeout = call.settings.timeout;
        for (;;) {
            const { promise, cancel } = this.#calls.begin(call.task, call.options, { ...call.settings, timeout });
            call.cancel = cancel;
            call.attemptsLeft -= 1;
            try {
                return await promise;
            } catch (error) {
                const pause = error.retryAfter ?? backoff.next();
                if (call.deadline !== undefined) timeout = call.deadline - this.#timers.now() - pause;
                const hasTime = call.deadline === undefined || timeout > 0;
                if (call.attemptsLeft === 0 || !hasTime || !mayRepeat(error, call.retry)) throw error;
                const end = await this.#pause(call, pause);
                if (end === "cancelled") throw cancelledHere(call.task, error.started, call.settings.signal?.reason);
                if (end === "closed") throw error;
            }
        }
    }

    /** Waits for the duration. Resolves with the reason of the end: `over`, `cancelled` or `closed`. */
    #pause(call, duration) {
        return new Promise((resolve) => {
            const { signal } = call.settings;
            const end = (reason) => {
                timer.cancel();
                this.#pausing.delete(end);
                signal?.removeEventListener("abort", stop);
                resolve(reason);
            };
            const stop = () => end("cancelled");
            const timer = this.#timers.after(duration, () => end("over"));
            this.#pausing.add(end);
            call.cancel = stop;
            signal?.addEventListener("abort", stop, { once: true });
            if (signal?.aborted) stop();
            else if (this.#calls.hasEnded) end("closed");
        });
    }

    /** Stops all repetition: pausing calls end with the error of their last attempt. */
    close() {
        for (const end of [...this.#pausing]) end("closed");
    }
}

/**
 * The codes of calls that are not made again: the caller has cancelled, or does not wait any longer, or the call has
 * already waited for a connection.
 */
const final = new Set(["call.cancelled", "call.timeout", "daemon.unreachable"]);

/** Whether the error is transient and `retry` permits a repetition. */
function mayRepeat(error, retry) {
    return error.transient && !final.has(error.code) && (retry === "transient" || error.started === false);
}
