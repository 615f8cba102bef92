// What programs write against the types. Compiled only; lines marked with @ts-expect-error must not compile.

import { Bridge, BridgeError, BridgeEvent, connect, JSONValue, WebBridge } from "../../types/trestle-bridge";

interface Sum { sum: number }

export async function calls(): Promise<number> {
    const bridge: Bridge = await connect({ socket: "/bridge.sock", hello: { client: "test" }, waitMs: 1000 });
    const { sum } = await bridge.call<Sum>("add", { a: 1, b: 2 });
    const typed: Sum = await bridge.call<Sum, { a: number }, string>("add", { a: 1 }, {
        signal: new AbortController().signal, timeout: 100, session: 3, attempts: 2, idempotent: true,
        onProgress: (value, sequence) => value.length + sequence,
    });
    // @ts-expect-error options of another type than the one named
    bridge.call<Sum, { a: number }>("add", { a: "1" }).catch(() => {});
    // @ts-expect-error a timeout is a number
    bridge.call("add", {}, { timeout: "1 s" }).catch(() => {});
    const pending = WebBridge.call<Sum>("add", {}, (result, error) => {
        // @ts-expect-error there may be no result
        result.sum.toFixed();
        if (error) console.log(error.code, error.started);
    });
    pending.cancel();
    WebBridge.call("closeWeb", () => {}).cancel();
    await bridge.send("note", { text: "x" }, { session: 1 });
    await bridge.close();
    return sum + typed.sum;
}

export async function tasks(bridge: Bridge): Promise<void> {
    await bridge.register<{ kind: string }, string, number>("scan", async ({ kind }, call) => {
        call.progress(12);
        // @ts-expect-error progress of this task is a number
        call.progress("12");
        call.signal.addEventListener("abort", () => {});
        if (call.caller.uid === 0) throw new BridgeError("scan.blurred", kind, { transient: true, retryAfter: 5 });
        return kind;
    }, { scope: "session" });
    // @ts-expect-error there is no such scope
    await bridge.register("scan", () => 1, { scope: "everybody" });
    await bridge.unregister("scan");
}

export async function events(bridge: Bridge): Promise<JSONValue[]> {
    const stop = bridge.subscribe<{ floor: number }>(["door.*", "bell"], ({ event, data }) => event + data.floor);
    await stop.ready;
    stop();
    const heard: JSONValue[] = [];
    for await (const { data } of bridge.events<JSONValue>("tick", { capacity: 10 })) heard.push(data);
    const event: BridgeEvent | undefined = (await bridge.events("tick").next()).value;
    bridge.onState(({ state, delayMs }) => console.log(state === "waiting" ? delayMs : event));
    bridge.onProblem((problem) => console.log(problem))();
    await bridge.publish("tick", 1, { retain: true });
    const error: BridgeError<{ path: string }> = new BridgeError("a", "b", { data: { path: "$" } });
    bridge.receive({ event: error.data.path });
    return heard;
}
