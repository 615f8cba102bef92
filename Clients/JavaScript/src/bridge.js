// The main object of the library: one bridge, over any carrier of messages. It connects calls, provided tasks and
// subscriptions, which last as long as the bridge, with its successive connections.

import { Backoff } from "./backoff.js";
import { Calls } from "./calls.js";
import { chooseCarrier } from "./carriers/choose.js";
import { Connection } from "./connection.js";
import { BridgeError, closedOnPurpose, goesAsStream, isObject, notBegun } from "./errors.js";
import { Observers } from "./observers.js";
import { Outbox } from "./outbox.js";
import { programName } from "./programName.js";
import { Provider } from "./providing.js";
import { RepeatedCalls } from "./repeating.js";
import { StreamingCalls } from "./streamingCalls.js";
import { streamPlaces, withReadables } from "./streamPlaces.js";
import { Streams } from "./streams.js";
import { streamsIn } from "./streamValues.js";
import { Subscriptions } from "./subscriptions.js";
import { Timers } from "./timers.js";

const defaults = {
    maxWait: 60_000,
    maxWaitingCalls: 1024,
    maxWaitingBytes: 4 << 20,
    grace: 2_000,
    connectTimeout: 10_000,
    maxQueuedBytes: 4 << 20,
};

export class Bridge {
    #timers;
    #outbox;
    #calls;
    #repeatedCalls;
    #provider;
    #subscriptions;
    #connection;
    #observers = new Observers();
    #streams = new Streams(
        (task, options, settings) => this.call(task, options, settings), () => this.#calls.messageBytes);
    #container = Object.freeze({
        receive: (message) => this.#connection.receive(message),
        sessionLost: () => this.#connection.renew(),
    });

    /**
     * Opens no connection before the first use. The options are documented in types/trestle-bridge.d.ts.
     */
    constructor(options = {}) {
        const settings = { ...defaults, ...options, hello: { client: programName(), ...options.hello } };
        const problem = (error) => this.#problem(error);
        const repeat = (task, taskOptions) => this.#repeat(task, taskOptions);
        this.#timers = new Timers(options.clock);
        this.#outbox = new Outbox(settings.maxQueuedBytes, problem);
        this.#calls = new Calls(this.#outbox, this.#timers, {
            grace: settings.grace,
            maxWait: settings.maxWait,
            maxWaitingCalls: settings.maxWaitingCalls,
            maxWaitingBytes: settings.maxWaitingBytes,
            onWaiting: () => this.#connection.start(),
            onShuttingDown: () => this.#drain(),
        }, problem);
        const calls = new StreamingCalls(this.#calls, this.#streams, this.#timers);
        this.#repeatedCalls = new RepeatedCalls(calls, this.#timers);
        this.#provider = new Provider(this.#calls, this.#outbox, this.#timers, repeat, problem);
        this.#subscriptions = new Subscriptions(this.#calls, repeat, problem);
        this.#connection = new Connection({
            makeCarrier: () => (options.makeCarrier ? options.makeCarrier() : chooseCarrier(options)),
            settings, timers: this.#timers, outbox: this.#outbox,
            backoff: new Backoff(options.backoff),
            session: this.#session(settings),
        });
    }

    /** Returns the callbacks for the connection. */
    #session(settings) {
        return {
            introduce: () => this.#calls.begin("bridge.hello", settings.hello, { isInSession: true }).promise,
            opened: (hello) => {
                this.#learn(hello);
                this.#provider.restore();
                this.#subscriptions.restore();
                this.#calls.connectionUp();
            },
            resumed: () => this.#calls.connectionUp(),
            learned: (hello) => this.#learn(hello),
            message: (message) => this.#receive(message),
            unreadable: (id) => {
                const reason = `the callback is longer than this client reads: ${goesAsStream}`;
                this.#calls.receiveUnreadable(id, "result.too_large", reason);
            },
            lost: (error) => {
                this.#provider.sessionLost();
                this.#subscriptions.sessionLost();
                this.#calls.connectionLost(error);
            },
            closed: (error) => {
                this.#calls.close(error);
                this.#calls.abandon();
                this.#repeatedCalls.close();
                this.#provider.sessionLost();
                this.#subscriptions.close();
            },
            changed: (change) => this.#observers.stateChanged(change),
            problem: (error) => this.#problem(error),
        };
    }

    #learn(hello) {
        const messageBytes = hello?.limits?.messageBytes;
        if (Number.isSafeInteger(messageBytes) && messageBytes > 0) this.#calls.messageBytes = messageBytes;
    }

    #receive(message) {
        if (!isObject(message)) {
            return this.#problem(new BridgeError("message.invalid", "an invalid message was received"));
        }
        if (message.task !== undefined) this.#provider.receive(message);
        else if (message.cancel !== undefined) this.#provider.cancel(message.cancel);
        else if (message.event !== undefined) this.#receiveEvent(message);
        else if (message.progress !== undefined) this.#calls.receiveProgress(message);
        else if (message.callbackId !== undefined) this.#calls.receive(message);
    }

    #receiveEvent(message) {
        if (typeof message.event !== "string") return;
        this.#subscriptions.receive(message);
        if (message.event === "daemon.draining") this.#drain();
        if (message.event === "web.close") {
            const info = isObject(message.data) ? message.data.info : undefined;
            this.#connection.endsOnPurpose(closedOnPurpose(info));
        }
    }

    /** Handles that the daemon no longer begins calls. Returns whether calls wait for the next daemon. */
    #drain() {
        const mayWait = this.#connection.drain();
        if (mayWait) this.#calls.hold();
        return mayWait;
    }

    /** Repeats a call over new connections until it is answered. For calls that may be made twice. */
    async #repeat(task, options) {
        for (;;) {
            const { lossCount } = this.#calls;
            try {
                return await this.#calls.begin(task, options).promise;
            } catch (error) {
                // A container may also answer with session.closed; an immediate repetition could loop forever.
                const wasLost = error.code === "session.closed" && this.#calls.lossCount > lossCount;
                if (!wasLost || this.#calls.hasEnded) throw error;
            }
        }
    }

    // Calls.

    call(task, options, third, fourth) {
        if (typeof options === "function") return this.call(task, undefined, options, third);
        if (typeof third !== "function") return this.#begin(task, options, third).promise;
        const { promise, cancel } = this.#begin(task, options, fourth);
        const callback = third;
        promise.then((result) => callback(result, null), (error) => callback(undefined, error))
            .catch((error) => this.#problem(error));
        return { cancel: () => cancel() };
    }

    #begin(task, options, settings) {
        const call = this.#repeatedCalls.begin(task, options, callSettings(settings));
        const places = streamPlaces(settings?.resultSchema);
        if (places.length === 0) return call;
        const read = (name) => this.readStream(name);
        return { ...call, promise: call.promise.then((result) => withReadables(result, places, read)) };
    }

    async *pages(task, options, settings) {
        let wanted = { ...options };
        while (true) {
            const page = await this.call(task, wanted, settings);
            yield page;
            // A page with the same cursor as the previous one would repeat forever.
            if (page.cursor === undefined || page.cursor === wanted.cursor) return;
            wanted = { ...wanted, cursor: page.cursor };
        }
    }

    notify(task, options, { session } = {}) {
        const promise = streamsIn(options).length === 0
            ? this.#calls.begin(task, options, { session, isOneWay: true }).promise
            : Promise.reject(notBegun("options.invalid", "a one-way call has no streams: use call"));
        // Callers may ignore the promise: this prevents an unhandled rejection.
        promise.catch(() => {});
        return promise;
    }

    // Provided tasks.

    register(task, handler, settings) {
        return this.#provider.register(task, handler, settings);
    }

    // Events.

    subscribe(patterns, listener, settings) {
        if (typeof listener === "function") return this.#subscriptions.subscribe(patterns, listener, settings);
        if (listener === undefined || isObject(listener)) return this.#subscriptions.stream(patterns, listener);
        throw new BridgeError("options.invalid", "a listener is a function; without one there are only settings");
    }

    async publish(event, data, { retain } = {}) {
        // JSON omits members that are undefined.
        await this.call("bridge.publish", { event, data, retain: retain ? true : undefined });
    }

    // Streams.

    makeStream(settings) {
        return this.#streams.make(settings);
    }

    sendStream(source, settings) {
        return this.#streams.send(source, settings);
    }

    readStream(name) {
        return this.#streams.read(name);
    }

    writeStream(name) {
        return this.#streams.write(name);
    }

    // The connection.

    get state() {
        return this.#connection.state;
    }

    get hello() {
        return this.#connection.hello;
    }

    get queuedBytes() {
        return this.#outbox.queuedBytes;
    }

    open() {
        return this.#connection.opened();
    }

    close() {
        this.#calls.close();
        this.#repeatedCalls.close();
        this.#provider.sessionLost();
        return this.#connection.close();
    }

    ref() {
        this.#keepAlive(true);
    }

    unref() {
        this.#keepAlive(false);
    }

    #keepAlive(keeps) {
        this.#timers.keepAlive(keeps);
        this.#connection.keepAlive(keeps);
    }

    onState(listener) {
        return this.#observers.onState(listener);
    }

    onProblem(listener) {
        return this.#observers.onProblem(listener);
    }

    #problem(error) {
        this.#observers.reportProblem(error);
    }

    get container() {
        return this.#container;
    }
}

/** Returns only the public settings. The other settings are internal to the library. */
function callSettings({ signal, timeout, onProgress, session, retry } = {}) {
    return { signal, timeout, onProgress, session, retry };
}
