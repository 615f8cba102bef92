// Bridges for tests: one over carriers that the test drives, and one with a fake daemon.

import assert from "node:assert/strict";

import { Bridge, connect } from "../../src/index.js";
import { fakeDaemon, FakeCarrier, FakeClock } from "./fakes.mjs";

const fast = { first: 1, max: 2 };

/** Returns a client of a fake daemon, its connection, and the problems that it reports. */
export async function pair(t, options = {}, daemonOptions = {}) {
    const daemon = await fakeDaemon(t, daemonOptions);
    const bridge = await connect({ socket: daemon.socket, backoff: fast, ...options });
    t.after(() => bridge.close());
    const problems = [];
    bridge.onProblem((problem) => problems.push(problem));
    return { daemon, bridge, peer: await daemon.next(), problems };
}

/** Makes a bridge over carriers that the test drives. Each attempt uses a new carrier. */
export function driven(options = {}, carrierOptions = {}) {
    const carriers = [];
    const clock = new FakeClock();
    const changes = [];
    const bridge = new Bridge({
        clock, backoff: { first: 100, max: 1000, random: () => 1 },
        makeCarrier: () => {
            carriers.push(new FakeCarrier(carrierOptions));
            return carriers.at(-1);
        },
        ...options,
    });
    bridge.onState((change) => changes.push(change));
    bridge.onProblem(() => {});
    return { bridge, carriers, carrierOptions, clock, changes };
}

/** Returns the error of a promise, which must reject. */
export const failure = (promise) => promise.then(() => assert.fail("it was not rejected"), (error) => error);
