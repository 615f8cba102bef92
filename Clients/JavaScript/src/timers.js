// Timers that can be longer than the platform's, can be let go of all at once, and come from a clock that a test may
// replace. A clock has `now()` in milliseconds (monotonic), `setTimeout` and `clearTimeout`.

/** The longest delay that setTimeout takes; beyond, it fires at once. */
const longestDelayMs = 2 ** 31 - 1;

export const systemClock = {
    now: () => globalThis.performance.now(),
    setTimeout: (action, delayMs) => globalThis.setTimeout(action, delayMs),
    clearTimeout: (handle) => globalThis.clearTimeout(handle),
};

export class Timers {
    #clock;
    #running = new Set();
    #keepsAlive = true;

    constructor(clock = systemClock) {
        this.#clock = clock;
    }

    /** Milliseconds of a clock that only goes forward. */
    now() {
        return this.#clock.now();
    }

    /** Runs the action once after the delay, unless it is cancelled before. */
    after(delayMs, action) {
        const timer = { handle: undefined, cancel: () => this.#cancel(timer) };
        const due = this.now() + delayMs;
        const arm = () => {
            const leftMs = Math.max(0, due - this.now());
            timer.handle = this.#clock.setTimeout(
                () => {
                    if (due - this.now() > 1) return arm();
                    this.#running.delete(timer);
                    action();
                },
                Math.min(leftMs, longestDelayMs));
            // Browsers' handles are numbers, and keep nothing alive.
            if (!this.#keepsAlive) timer.handle?.unref?.();
        };
        this.#running.add(timer);
        arm();
        return timer;
    }

    /** Whether timers, those that run too, keep a Node process alive. */
    keepAlive(keeps) {
        this.#keepsAlive = keeps;
        for (const timer of this.#running) keeps ? timer.handle?.ref?.() : timer.handle?.unref?.();
    }

    #cancel(timer) {
        if (this.#running.delete(timer)) this.#clock.clearTimeout(timer.handle);
    }
}
