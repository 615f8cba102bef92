// The delay before the next attempt. It grows, so that clients do not flood an unavailable daemon. It has jitter, so
// that many clients of one daemon do not reconnect at the same moment.

export class Backoff {
    #first;
    #max;
    #random;
    #attempts = 0;
    #last = 0;

    /**
     * Delays, in milliseconds, double from `first` up to `max`. Each is multiplied by a random factor between 0.5
     * and 1.
     */
    constructor({ first = 100, max = 15_000, random = Math.random } = {}) {
        this.#first = first;
        this.#max = max;
        this.#random = random;
    }

    /** Returns the next delay in milliseconds. */
    next() {
        // The exponent is bounded because 2 ** 1024 is Infinity.
        const full = Math.min(this.#max, this.#first * 2 ** Math.min(this.#attempts, 32));
        this.#attempts += 1;
        this.#last = full * (0.5 + 0.5 * this.#random());
        return this.#last;
    }

    /**
     * Records that a connection lasted for `duration` milliseconds. Delays start again from `first` only if that is at
     * least the last delay: a daemon that drops each connection immediately must not be retried at full speed.
     */
    connectedFor(duration) {
        if (duration >= this.#last) this.#attempts = 0;
    }
}
