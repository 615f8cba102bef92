// The streams in one outgoing value. They are made, named, and written while the call with their names runs.

import { forCall } from "./errors.js";
import { pump } from "./streams.js";
import { streamsIn, takeStream, withNames } from "./streamValues.js";

export class SentStreams {
    #streams;
    #value;
    /** Aborted if the call fails. */
    #abort = new AbortController();
    #ends = [];
    /** The sources that are not being read yet, in the order of their ends. */
    #sources = [];

    /** @param streams the `Streams` of a bridge, or of the call that the value answers */
    constructor(streams, value) {
        this.#streams = streams;
        this.#value = value;
    }

    /**
     * Makes the streams. Resolves to the value with their names.
     * @param settings `signal` and `timeout` of each call to the daemon
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

    /** Begins to write. Called after the names were sent. */
    start() {
        const { signal } = this.#abort;
        this.#ends.forEach(({ writable }, index) => {
            // The reader and the call get the failure, so it is ignored here.
            pump(this.#sources[index], writable, signal).catch(() => {});
        });
        this.#sources = [];
    }

    /** Ends the streams that are not complete, and cancels the sources. */
    end(error) {
        for (const { abort } of this.#ends) abort(error).catch(() => {});
        this.#abort.abort(error);
        for (const source of this.#sources.splice(0)) cancelSource(source, error);
    }

    /** Cancels the sources without making the streams. */
    discard() {
        this.#sources = streamsIn(this.#value).map((value) => takeStream(value).source);
        this.end();
    }
}

function cancelSource(source, error) {
    if (typeof source?.cancel === "function") source.cancel(error).catch(() => {});
    else if (typeof source?.return === "function") Promise.resolve(source.return()).catch(() => {});
}
