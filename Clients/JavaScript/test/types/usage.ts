// Sample programs that use the types. Only compiled; lines after @ts-expect-error must not compile.

import {
    Bridge, BridgeError, BridgeEvent, connect, EventStream, JSONValue, Registration, stream, Subscription, WebBridge,
} from "../../types/trestle-bridge";

interface Sum { sum: number }

export async function calls(): Promise<number> {
    const bridge: Bridge = await connect({ socket: "/bridge.sock", hello: { client: "test" }, maxWait: 1000, waitForDaemon: true });
    const { sum } = await bridge.call<Sum>("add", { a: 1, b: 2 });
    const typed: Sum = await bridge.call<Sum, { a: number }, string>("add", { a: 1 }, {
        signal: new AbortController().signal, timeout: 100, session: 3, retry: "transient",
        onProgress: (value, sequence) => value.length + sequence,
    });
    // @ts-expect-error options of another type than the one named
    bridge.call<Sum, { a: number }>("add", { a: "1" }).catch(() => {});
    bridge.call("add", {}, { timeout: Infinity, retry: "unstarted" }).catch(() => {});
    // @ts-expect-error there is no such policy
    bridge.call("add", {}, { retry: "always" }).catch(() => {});
    // @ts-expect-error a timeout is a number
    bridge.call("add", {}, { timeout: "1 s" }).catch(() => {});
    const pending = WebBridge.call<Sum>("add", {}, (result, error) => {
        // @ts-expect-error there may be no result
        result.sum.toFixed();
        if (error) console.log(error.code, error.started);
    });
    pending.cancel();
    WebBridge.call("closeWeb", () => {}).cancel();
    await bridge.notify("note", { text: "x" }, { session: 1 });
    await bridge.close();
    return sum + typed.sum;
}

export async function tasks(bridge: Bridge): Promise<void> {
    const ending = new AbortController();
    const scan = await bridge.register<{ kind: string }, string, number>("scan", async ({ kind }, call) => {
        const wasTaken: boolean = call.reportProgress(12);
        // @ts-expect-error progress of this task is a number
        call.reportProgress("12");
        if (call.timeRemaining !== undefined && call.timeRemaining < 100) return `${wasTaken}`;
        call.signal.addEventListener("abort", () => {});
        if (call.caller.uid === 0) throw new BridgeError("scan.blurred", kind, { transient: true, retryAfter: 5 });
        return kind;
    }, {
        scope: "session", signal: ending.signal,
        description: { summary: "Reads a code.", options: { type: "object", required: ["kind"] }, result: true },
    });
    // @ts-expect-error there is no such scope
    await bridge.register("scan", () => 1, { scope: "everybody" });
    const registration: Registration = scan;
    await registration.unregister();
    await registration[Symbol.asyncDispose]();
}

export async function streams(bridge: Bridge): Promise<Uint8Array | undefined> {
    const { name, writable } = await bridge.makeStream({ type: "text/plain", totalBytes: 5 });
    const writer = writable.getWriter();
    await writer.write("hello");
    await writer.write(new Uint8Array(3));
    // @ts-expect-error a number is no bytes
    await writer.write(5);
    await writer.close();
    const { readable } = await bridge.makeStream({ side: "read" });
    await bridge.register<{ photo: string }, string>("photo.turn", async ({ photo }, call) => {
        const turned = await call.sendStream(call.readStream(photo), { type: "image/png" });
        turned.done.catch(() => {});
        return turned.name;
    });
    await bridge.sendStream(["a", new Uint8Array(1)]);
    await bridge.call("photo.add", { photo: stream(new Blob(), { totalBytes: 0 }), raw: readable });
    await bridge.register("photo.get", async () => ({ photo: stream(["a"]) }));
    // @ts-expect-error no bytes
    stream(5);
    const schema = { type: "object", properties: { photo: { type: "string", format: "trestle-stream" } } };
    await bridge.register<{ photo: ReadableStream<Uint8Array> }, number>("photo.size", async ({ photo }) => {
        return (await new Response(photo).arrayBuffer()).byteLength;
    }, { description: { options: schema } });
    const result = await bridge.call<{ photo: ReadableStream<Uint8Array> }>("photo.get", {}, { resultSchema: schema });
    await result.photo.cancel();
    const { value } = await readable.getReader().read();
    await bridge.writeStream(name).abort();
    return value;
}

export async function events(bridge: Bridge): Promise<JSONValue[]> {
    const stop: Subscription = bridge.subscribe<{ floor: number }>(
        ["door.*", "bell"], ({ event, data }) => event + data.floor, { signal: new AbortController().signal });
    await stop.ready;
    stop[Symbol.dispose]();
    stop();
    // @ts-expect-error with a listener nothing waits
    bridge.subscribe("bell", () => {}, { capacity: 10 });
    const heard: JSONValue[] = [];
    for await (const { data } of bridge.subscribe<JSONValue>("tick", { capacity: 10 })) heard.push(data);
    const ticks: EventStream<number> = bridge.subscribe<number>("tick");
    const event: BridgeEvent | undefined = (await ticks.next()).value;
    await ticks[Symbol.asyncDispose]();
    bridge.onState(({ state, delay }) => console.log(state === "waiting" ? delay : event));
    bridge.onProblem((problem) => console.log(problem))();
    await bridge.publish("tick", 1, { retain: true });
    const error: BridgeError<{ path: string }> = new BridgeError("a", "b", { data: { path: "$" } });
    bridge.container.receive({ event: error.data.path });
    bridge.container.sessionLost();
    return heard;
}
