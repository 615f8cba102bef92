// Calls that may be made more than once: where nothing was done, or where the program says that doing it twice does no
// harm, and the error says that it may go better later. Each attempt is a call of its own; to the program they are one.

import { Backoff } from "./backoff.js";
import { BridgeError } from "./errors.js";

export class RepeatedCalls {
    #calls;
    #timers;
    #pausing = new Set();

    constructor(calls, timers) {
        this.#calls = calls;
        this.#timers = timers;
    }

    /** As Calls.begin, with `attempts` and `idempotent` among the settings. */
    begin(task, options, settings) {
        const { attempts = 1, idempotent = false, timeout } = settings;
        if (attempts === 1) return this.#calls.begin(task, options, settings);
        if (!(Number.isSafeInteger(attempts) && attempts > 0)) {
            const reason = "the attempts of a call are an integer above 0";
            const error = new BridgeError("options.invalid", reason, { data: { started: false } });
            return { promise: Promise.reject(error), cancel: () => {} };
        }
        const call = { task, options, settings, attemptsLeft: attempts, idempotent, cancel: undefined };
        // A timeout that makes no sense is found out by the first attempt.
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
                const pauseMs = error.retryAfter ?? backoff.next();
                if (call.deadline !== undefined) timeout = call.deadline - this.#timers.now() - pauseMs;
                const hasTime = call.deadline === undefined || timeout > 0;
                if (call.attemptsLeft === 0 || !hasTime || !mayRepeat(error, call.idempotent)) throw error;
                if (!await this.#pause(call, pauseMs)) throw error;
            }
        }
    }

    /** Resolves with whether the pause came to its end. */
    #pause(call, pauseMs) {
        return new Promise((resolve) => {
            const { signal } = call.settings;
            const end = (isOver) => {
                timer.cancel();
                this.#pausing.delete(end);
                signal?.removeEventListener("abort", stop);
                resolve(isOver);
            };
            const stop = () => end(false);
            const timer = this.#timers.after(pauseMs, () => end(true));
            this.#pausing.add(end);
            call.cancel = stop;
            signal?.addEventListener("abort", stop, { once: true });
            if (signal?.aborted || this.#calls.hasEnded) stop();
        });
    }

    /** No call is made again: those that pause end with the error of their last attempt. */
    close() {
        for (const end of [...this.#pausing]) end(false);
    }
}

/** Whether the same call may go better, and does no harm. */
function mayRepeat(error, idempotent) {
    // Where a limit is reached nothing has been begun.
    return error.transient && (idempotent || error.started === false || error.code === "busy");
}
