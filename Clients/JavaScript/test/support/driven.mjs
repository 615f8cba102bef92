// Bridges for tests: one over carriers that the test drives, and one of a fake daemon.

import assert from "node:assert/strict";

import { Bridge, connect } from "../../src/index.js";
import { fakeDaemon, FakeCarrier, FakeClock } from "./fakes.mjs";

const fast = { first: 1, max: 2 };

/** A client of a fake daemon, its connection, and the problems that it reports. */
export async function pair(t, options = {}, daemonOptions = {}) {
    const daemon = await fakeDaemon(t, daemonOptions);
    const bridge = await connect({ socket: daemon.socket, backoff: fast, ...options });
    t.after(() => bridge.close());
    const problems = [];
    bridge.onProblem((problem) => problems.push(problem));
    return { daemon, bridge, peer: await daemon.next(), problems };
}

/** A bridge over carriers that the test drives; each attempt takes a new one. */
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

/** The error of a promise that has to be rejected. */
export const failure = (promise) => promise.then(() => assert.fail("it was not rejected"), (error) => error);
