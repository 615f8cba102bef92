// How long to wait before the next attempt to connect: growing, so that a daemon that is away is not pestered, and
// scattered, so that many clients of one daemon do not all come back in the same moment.

export class Backoff {
    #firstMs;
    #longestMs;
    #random;
    #attempts = 0;
    #lastMs = 0;

    /** Delays grow from `firstMs` by doubling up to `longestMs`; each is scattered between a half of that and all. */
    constructor({ firstMs = 100, longestMs = 15_000, random = Math.random } = {}) {
        this.#firstMs = firstMs;
        this.#longestMs = longestMs;
        this.#random = random;
    }

    /** The next delay in milliseconds. */
    next() {
        // The exponent is bounded because 2 ** 1024 is no number any more.
        const full = Math.min(this.#longestMs, this.#firstMs * 2 ** Math.min(this.#attempts, 32));
        this.#attempts += 1;
        this.#lastMs = full * (0.5 + 0.5 * this.#random());
        return this.#lastMs;
    }

    /**
     * A connection was good for so long. Delays begin anew only where it outlived the last one: a daemon that takes
     * connections and drops them at once must not be tried at full speed.
     */
    connectedFor(durationMs) {
        if (durationMs >= this.#lastMs) this.#attempts = 0;
    }
}
