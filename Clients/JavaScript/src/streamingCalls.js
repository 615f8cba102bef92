// Calls whose options may contain streams. The streams are made before the call and written while it runs. If the call
// fails, they end with its error.

import { checkArguments } from "./callArguments.js";
import { SentStreams } from "./sentStreams.js";
import { streamsIn, withNames } from "./streamValues.js";

export class StreamingCalls {
    #calls;
    #streams;
    #timers;

    constructor(calls, streams, timers) {
        this.#calls = calls;
        this.#streams = streams;
        this.#timers = timers;
    }

    get hasEnded() {
        return this.#calls.hasEnded;
    }

    /** Begins a call like Calls.begin. */
    begin(task, options, settings) {
        const found = streamsIn(options);
        if (found.length === 0) return this.#calls.begin(task, options, settings);
        const abort = new AbortController();
        const cancel = (cause) => abort.abort(cause);
        return { promise: this.#run(task, options, found.length, { ...settings, abort }), cancel };
    }

    async #run(task, options, count, { abort, signal, timeout, ...settings }) {
        // Checks the arguments first, so that invalid ones do not use up a stream.
        checkArguments(task, placeholders(options, count), { timeout, session: settings.session });
        const onAbort = () => abort.abort(signal.reason);
        if (signal?.aborted) onAbort();
        signal?.addEventListener("abort", onAbort, { once: true });
        const deadline = timeout === undefined ? undefined : this.#timers.now() + timeout;
        const left = () => (deadline === undefined ? undefined : Math.max(1, deadline - this.#timers.now()));
        const sent = new SentStreams(this.#streams, options);
        try {
            const named = await sent.make({ signal: abort.signal, timeout });
            const call = this.#calls.begin(task, named, { ...settings, signal: abort.signal, timeout: left() });
            sent.start();
            return await call.promise;
        } catch (error) {
            sent.end(error);
            throw error;
        } finally {
            signal?.removeEventListener("abort", onAbort);
        }
    }
}

/** Returns the options with empty names in place of streams. Returns options that contain themselves unchanged. */
function placeholders(options, count) {
    try {
        return withNames(options, Array(count).fill(""));
    } catch {
        return options;
    }
}
