// Those who listen to the bridge itself: to its states, and to what concerns no call.

import { describe } from "./errors.js";

export class Observers {
    #states = new Set();
    #problems = new Set();

    /** Returns the function that ends it. */
    onState(listener) {
        this.#states.add(listener);
        return () => this.#states.delete(listener);
    }

    /** Returns the function that ends it. */
    onProblem(listener) {
        this.#problems.add(listener);
        return () => this.#problems.delete(listener);
    }

    stateChanged(change) {
        for (const listener of [...this.#states]) {
            try {
                listener(change);
            } catch (error) {
                this.reportProblem(error);
            }
        }
    }

    /** Hands a problem to its listeners, or else writes it to the console. It never stops the library. */
    reportProblem(error) {
        if (this.#problems.size === 0) {
            globalThis.console?.error?.(`trestle-bridge: ${error?.code ? `${error.code}: ` : ""}${describe(error)}`);
            return;
        }
        for (const listener of [...this.#problems]) {
            try {
                listener(error);
            } catch (thrown) {
                globalThis.console?.error?.(`trestle-bridge: a listener to problems failed: ${describe(thrown)}`);
            }
        }
    }
}
