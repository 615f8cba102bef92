// The streams of one value that goes out: made, named, and written beside the call that has their names.

import { forCall } from "./errors.js";
import { pump } from "./streams.js";
import { streamsIn, takeStream, withNames } from "./streamValues.js";

export class SentStreams {
    #streams;
    #value;
    /** Aborted where the call fails. */
    #abort = new AbortController();
    #ends = [];
    /** Those that nobody reads yet, in the order of their ends. */
    #sources = [];

    /** @param streams the `Streams` of a bridge, or of the call that the value answers */
    constructor(streams, value) {
        this.#streams = streams;
        this.#value = value;
    }

    /**
     * Makes them. Resolves to the value with their names.
     * @param settings of each call of the daemon's: `signal`, `timeout`
     */
    async make(settings) {
        try {
            for (const value of streamsIn(this.#value)) {
                const { source, type, totalBytes } = takeStream(value);
                this.#sources.push(source);
                this.#ends.push(await this.#streams.open({ type, totalBytes }, settings));
            }
        } catch (error) {
            this.end(error);
            throw forCall(error, false);
        }
        return withNames(this.#value, this.#ends.map(({ name }) => name));
    }

    /** Begins to write: the names are on their way. */
    start() {
        const { signal } = this.#abort;
        this.#ends.forEach(({ writable }, index) => {
            // The reader learns of a failure, and so does the call.
            pump(this.#sources[index], writable, signal).catch(() => {});
        });
        this.#sources = [];
    }

    /** Ends what is not written yet, and cancels the sources. */
    end(error) {
        for (const { abort } of this.#ends) abort(error).catch(() => {});
        this.#abort.abort(error);
        for (const source of this.#sources.splice(0)) cancelSource(source, error);
    }

    /** Cancels the sources of streams that are not made. */
    discard() {
        this.#sources = streamsIn(this.#value).map((value) => takeStream(value).source);
        this.end();
    }
}

function cancelSource(source, error) {
    if (typeof source?.cancel === "function") source.cancel(error).catch(() => {});
    else if (typeof source?.return === "function") Promise.resolve(source.return()).catch(() => {});
}
