// The peer of a page in the tests of real browsers. It provides the tasks that the page calls, calls the tasks that the
// page provides, publishes the events that the page gets, and checks the page's findings.

import assert from "node:assert/strict";

import { connect } from "../../src/index.js";
import { mailbox } from "./fakes.mjs";

/**
 * @param drop makes the page's container lose its connection and make another one
 * @returns `reports`: a mailbox of the findings of pages; `cancelled`: the number of cancelled calls of `peer.wait`
 */
export async function startPeer(t, socket, drop) {
    const bridge = await connect({ socket });
    t.after(() => bridge.close());
    const peer = { reports: mailbox(), cancelled: 0 };
    const wait = (call) => new Promise((resolve, reject) => {
        call.signal.addEventListener("abort", () => {
            peer.cancelled += 1;
            reject(call.signal.reason);
        });
        call.reportProgress("it waits");
    });
    const tasks = {
        "peer.count": ({ to }, call) => {
            for (let number = 1; number <= to; number += 1) call.reportProgress({ number });
            return "counted";
        },
        "peer.wait": (options, call) => wait(call),
        "peer.drop": (options, call) => {
            drop();
            return wait(call);
        },
        "peer.call": ({ task, options }) => bridge.call(task, options),
        "peer.publish": async ({ event, data }) => {
            await bridge.publish(event, data);
        },
        "peer.caller": (options, call) => call.caller.origin,
        "peer.copy": ({ text }, call) => ({ text: call.readStream(text) }),
        "peer.report": (findings) => peer.reports.put(findings),
    };
    for (const [task, handler] of Object.entries(tasks)) {
        await bridge.register(task, async (options, call) => (await handler(options, call)) ?? null);
    }
    return peer;
}

/** Checks the findings of exerciseBridge. */
export function checkFindings(findings, { origin = "local" } = {}) {
    const error = (code, started) => ({ code, isBridgeError: true, ...(started === undefined ? {} : { started }) });
    const progress = [{ number: 1 }, { number: 2 }, { number: 3 }];
    assert.deepEqual(findings, {
        callback: [{ a: 1 }, null],
        callbackOfError: [true, error("task.not_found")],
        echo: true,
        long: true,
        error: error("task.not_found"),
        tooLong: error("message.too_large", false),
        atOnce: true,
        progress: { values: progress, result: "counted" },
        aborted: error("call.cancelled", true),
        abortedBefore: error("call.cancelled", false),
        timeout: error("call.timeout", true),
        registered: 3,
        registeredAndFails: error("internal"),
        event: { event: "page.shown", data: ["弹", null] },
        caller: origin,
        stream: "弹 from a page",
    });
}

/** Checks the findings of exerciseLoss. */
export function checkFindingsOfLoss(findings, { origin }) {
    assert.deepEqual(findings, {
        lost: { code: "session.closed", started: true, isBridgeError: true },
        registered: 7,
        missed: { event: "bridge.events_dropped", data: { count: null } },
        event: { event: "page.again", data: 1 },
        caller: origin,
    });
}
