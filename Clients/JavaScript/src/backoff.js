// How long to wait before the next attempt: growing, so that a daemon that is away is not pestered, and scattered, so
// that many clients of one daemon do not all come back in the same moment.

export class Backoff {
    #first;
    #max;
    #random;
    #attempts = 0;
    #last = 0;

    /**
     * Delays, in milliseconds, grow from `first` by doubling up to `max`; each is scattered between a half of that and
     * all.
     */
    constructor({ first = 100, max = 15_000, random = Math.random } = {}) {
        this.#first = first;
        this.#max = max;
        this.#random = random;
    }

    /** The next delay in milliseconds. */
    next() {
        // The exponent is bounded because 2 ** 1024 is no longer a number.
        const full = Math.min(this.#max, this.#first * 2 ** Math.min(this.#attempts, 32));
        this.#attempts += 1;
        this.#last = full * (0.5 + 0.5 * this.#random());
        return this.#last;
    }

    /**
     * A connection was good for so many milliseconds. Delays begin again only where it outlived the last one: a daemon
     * that takes connections and drops them immediately must not be tried at full speed.
     */
    connectedFor(duration) {
        if (duration >= this.#last) this.#attempts = 0;
    }
}
