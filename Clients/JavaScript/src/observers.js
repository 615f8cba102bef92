// The listeners to the bridge itself: to its states, and to problems that belong to no call.

import { describe } from "./errors.js";

export class Observers {
    #states = new Set();
    #problems = new Set();

    /** Adds a listener to states. Returns a function that removes it. */
    onState(listener) {
        this.#states.add(listener);
        return () => this.#states.delete(listener);
    }

    /** Adds a listener to problems. Returns a function that removes it. */
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

    /** Passes a problem to its listeners; without listeners, writes it to the console. Never throws. */
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
