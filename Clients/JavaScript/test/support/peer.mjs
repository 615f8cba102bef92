// The other connection of a page that is tested in a real browser: it provides what the page calls, calls what the page
// provides, publishes what the page hears, and checks what the page found.

import assert from "node:assert/strict";

import { connect } from "../../src/index.js";
import { mailbox } from "./fakes.mjs";

/**
 * @param drop has the page's container lose its connection and make another
 * @returns `reports`: a mailbox of what pages found; `cancelled`: how many calls of `peer.wait` ended before their time
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

/** Checks what exerciseBridge found. */
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

/** Checks what exerciseLoss found. */
export function checkFindingsOfLoss(findings, { origin }) {
    assert.deepEqual(findings, {
        lost: { code: "session.closed", started: true, isBridgeError: true },
        registered: 7,
        missed: { event: "bridge.events_dropped", data: { count: null } },
        event: { event: "page.again", data: 1 },
        caller: origin,
    });
}
