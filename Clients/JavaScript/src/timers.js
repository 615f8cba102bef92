// Timers that can be longer than the platform's, that can let a process end, and whose clock a test can replace. A
// clock has `now()` in milliseconds (monotonic), `setTimeout` and `clearTimeout`.

/** The maximum delay of setTimeout in milliseconds. With a longer one it fires immediately. */
const maxDelay = 2 ** 31 - 1;

export const systemClock = {
    now: () => globalThis.performance.now(),
    setTimeout: (action, delay) => globalThis.setTimeout(action, delay),
    clearTimeout: (handle) => globalThis.clearTimeout(handle),
};

export class Timers {
    #clock;
    #running = new Set();
    #keepsAlive = true;

    constructor(clock = systemClock) {
        this.#clock = clock;
    }

    /** Returns the time of a monotonic clock, in milliseconds. */
    now() {
        return this.#clock.now();
    }

    /** Runs the action once after the delay, unless the timer is cancelled before. */
    after(delay, action) {
        const timer = { handle: undefined, cancel: () => this.#cancel(timer) };
        const due = this.now() + delay;
        const arm = () => {
            const left = Math.max(0, due - this.now());
            timer.handle = this.#clock.setTimeout(
                () => {
                    if (due - this.now() > 1) return arm();
                    this.#running.delete(timer);
                    action();
                },
                Math.min(left, maxDelay));
            // Handles in browsers are numbers, without `unref`.
            if (!this.#keepsAlive) timer.handle?.unref?.();
        };
        this.#running.add(timer);
        arm();
        return timer;
    }

    /** Sets whether timers, including running ones, keep a Node process alive. */
    keepAlive(keeps) {
        this.#keepsAlive = keeps;
        for (const timer of this.#running) keeps ? timer.handle?.ref?.() : timer.handle?.unref?.();
    }

    #cancel(timer) {
        if (this.#running.delete(timer)) this.#clock.clearTimeout(timer.handle);
    }
}
