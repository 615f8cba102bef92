// The actions of a page with its bridge in the tests of real browsers: a plain script for pages and workers. It needs
// the tasks of support/peer.mjs, which another connection provides, and reports its findings to that connection.

/** Does everything that a page may do, over its first connection. */
globalThis.exerciseBridge = async function (bridge) {
    const findings = {};
    findings.callback = await new Promise((done) => bridge.call("Echo", { a: 1 }, (...values) => done(values)));
    findings.callbackOfError = await new Promise((done) => {
        bridge.call("no.such.task", (result, error) => done([result === undefined, inWords(error)]));
    });
    // Line ends that JSON does not escape, and characters that a container may have to escape.
    const text = "héllo 弹 🎛 \u2028\u2029\n\r\t\0 \\ \" ' ` ${1} </script> <!-- \u007f\ufeff";
    findings.echo = await bridge.call("Echo", { text }).then((answer) => answer.text === text);
    const long = "弹".repeat(250_000);
    findings.long = await bridge.call("Echo", long).then((answer) => answer === long);
    findings.error = await bridge.call("no.such.task").catch(inWords);
    findings.tooLong = await bridge.call("Echo", "x".repeat(1 << 20)).catch(inWords);
    const numbers = Array.from({ length: 500 }, (_, index) => index);
    const answers = await Promise.all(numbers.map((number) => bridge.call("Echo", number)));
    findings.atOnce = answers.every((answer, index) => answer === index);

    const progress = [];
    const counted = await bridge.call("peer.count", { to: 3 }, { onProgress: (value) => progress.push(value) });
    findings.progress = { values: progress, result: counted };

    const abort = new AbortController();
    const aborted = bridge.call("peer.wait", {}, { signal: abort.signal, onProgress: () => abort.abort() });
    findings.aborted = await aborted.catch(inWords);
    const abortedBefore = bridge.call("peer.wait", {}, { signal: abort.signal });
    findings.abortedBefore = await abortedBefore.catch(inWords);
    findings.timeout = await bridge.call("peer.wait", {}, { timeout: 20 }).catch(inWords);

    await bridge.register("page.add", async ({ a, b }, call) => {
        call.reportProgress({ adding: true });
        if (a === undefined) throw new TypeError("nothing to add");
        return a + b;
    });
    findings.registered = await bridge.call("peer.call", { task: "page.add", options: { a: 1, b: 2 } });
    findings.registeredAndFails = await bridge.call("peer.call", { task: "page.add" }).catch(inWords);

    globalThis.pageEvents = bridge.subscribe("page.*");
    await globalThis.pageEvents.ready;
    findings.event = await publishedByOther(bridge, { event: "page.shown", data: ["弹", null] });
    findings.caller = await bridge.call("peer.caller");
    const { text: copy } = await bridge.call("peer.copy", { text: new Blob(["弹 from a page"]).stream() });
    findings.stream = await new Response(bridge.readStream(copy)).text();
    await bridge.call("peer.report", findings);
};

/** Runs calls of a page while its container loses the connection during a call and makes a new one. */
globalThis.exerciseLoss = async function (bridge) {
    const findings = {};
    // The connection is lost during this call.
    findings.lost = await bridge.call("peer.drop").catch(inWords);
    findings.registered = await bridge.call("peer.call", { task: "page.add", options: { a: 3, b: 4 } });
    findings.missed = (await globalThis.pageEvents.next()).value;
    findings.event = await publishedByOther(bridge, { event: "page.again", data: 1 });
    findings.caller = await bridge.call("peer.caller");
    await bridge.call("peer.report", findings);
};

async function publishedByOther(bridge, event) {
    await bridge.call("peer.publish", event);
    const { value } = await globalThis.pageEvents.next();
    return value;
}

function inWords(error) {
    const { code, started } = error;
    return { code, started, isBridgeError: error instanceof globalThis.TrestleBridge.BridgeError };
}
