// The calls that this end makes. Each ends exactly once, whatever happens: by its callback, by its deadline, by its
// AbortSignal, by the loss of the connection, or by the closing of the bridge.
//
// A call waits (in the outbox), is in flight (given to the carrier, and in the table by its id), and has ended. Calls
// that wait for a connection outlive the loss of one; those that wait only for room in a carrier are that connection's,
// and end with it. Ids count up and are never used twice, not even across connections, so what comes late or twice
// matches nothing and is passed over.

import { checkArguments } from "./callArguments.js";
import { BridgeError, cancelledHere, closedHere, ending, goesAsStream, notBegun, unreachable } from "./errors.js";
import { callText, cancelText, isLonger } from "./messages.js";
import { plainMessage } from "./outbox.js";
import { WaitingCalls } from "./waitingCalls.js";

/** The `timeout` of a message that stands for none, in milliseconds: the longest that the daemon knows. */
const noTimeout = 366 * 24 * 60 * 60 * 1000;

export class Calls {
    /** The longest message that the daemon takes, in bytes; from `bridge.hello`. */
    messageBytes = 1 << 20;
    /** How many connections were lost. A caller that compares this number knows whether such a loss ended a call. */
    lossCount = 0;

    #outbox;
    #timers;
    #settings;
    #onProblem;
    #waiting = new Set();
    /** Those of them that wait for a connection. */
    #unconnected;
    #inFlight = new Map();
    #lastId = 0;
    #isUp = false;
    #wasUp = false;
    /** Why there is no connection: the reason of a call that waited too long. */
    #reason = undefined;
    #end = undefined;

    /**
     * @param settings `grace`, `maxWait`, `maxWaitingCalls`, `maxWaitingBytes`; `onWaiting`: a call wants a
     *   connection; `onShuttingDown`: whether to hold calls
     */
    constructor(outbox, timers, settings, onProblem) {
        this.#outbox = outbox;
        this.#timers = timers;
        this.#settings = settings;
        this.#unconnected = new WaitingCalls(settings);
        this.#onProblem = onProblem;
    }

    /**
     * Begins a call.
     * @param settings `signal`, `timeout`, `onProgress`, `session`; `isOneWay`; `isInSession`: of the current session
     *   only, before the calls of the program
     * @returns {{promise: Promise<unknown>, cancel: (cause?: unknown) => void}}
     */
    begin(task, options, settings = {}) {
        const call = { task, settings, id: undefined, order: 0, state: "new", lastSequence: -1, timers: [] };
        const promise = new Promise((resolve, reject) => Object.assign(call, { resolve, reject }));
        try {
            this.#check(call, options);
            this.#enqueue(call);
        } catch (error) {
            this.#finish(call, error);
        }
        return { promise, cancel: (cause) => this.#cancel(call, cause) };
    }

    #check(call, options) {
        const { task, settings } = call;
        Object.assign(call, checkArguments(task, options, settings));
        if (this.#end) throw ending(this.#end, task, false);
        if (settings.signal?.aborted) throw cancelledHere(task, false, settings.signal.reason);
        if (settings.isInSession) return;
        if (!this.#isUp) this.#unconnected.checkRoom(call);
        else if (!this.#outbox.hasRoom(call.bytes)) {
            throw new BridgeError("busy", "too much is waiting to be sent already", {
                data: { started: false }, transient: true, retryAfter: 100,
            });
        }
    }

    #enqueue(call) {
        this.#lastId += 1;
        call.order = this.#lastId;
        if (!call.settings.isOneWay) call.id = call.order;
        call.take = () => this.#take(call);
        call.failed = (error) => {
            this.#finish(call, ending(unreachable(`the carrier failed: ${error}`), call.task, false));
        };
        call.madeAt = this.#timers.now();
        if (call.timeout !== undefined) {
            call.deadline = call.madeAt + call.timeout;
            if (call.timeout !== Infinity) this.#after(call, call.timeout, () => this.#deadlinePassed(call));
        }
        const { signal } = call.settings;
        if (signal) {
            call.onAbort = () => this.#cancel(call, signal.reason);
            signal.addEventListener("abort", call.onAbort, { once: true });
        }
        this.#wait(call);
    }

    #wait(call) {
        call.state = "waiting";
        this.#waiting.add(call);
        if (call.settings.isInSession) return this.#outbox.sendInSession(call);
        if (!this.#isUp) this.#awaitConnection(call);
        this.#outbox.sendCall(call);
        if (call.state === "waiting") this.#settings.onWaiting();
    }

    /** Without a deadline of its own, a call waits for a connection no longer than the settings say. */
    #awaitConnection(call) {
        this.#unconnected.add(call);
        if (call.deadline !== undefined || call.waitTimer) return;
        const { maxWait } = this.#settings;
        call.waitTimer = this.#after(call, Math.max(0, call.madeAt + maxWait - this.#timers.now()), () => {
            const why = this.#reason ? ` (${this.#reason.message})` : "";
            const what = this.#wasUp ? "the connection was lost, and no other came" : "no connection came";
            const error = unreachable(`${what} for ${maxWait / 1000} s${why}`, this.#reason?.data);
            error.cause = this.#reason;
            this.#endHere(call, ending(error, call.task, false));
        });
    }

    /** The message, at the moment of writing; undefined where the call has ended, or cannot be sent. */
    #take(call) {
        if (call.state !== "waiting") return undefined;
        this.#waiting.delete(call);
        const text = callText({
            task: call.task, id: call.id, optionsText: call.optionsText, session: call.settings.session,
            wantsProgress: typeof call.settings.onProgress === "function",
            timeout: call.settings.isOneWay ? undefined : this.#timeLeft(call),
        });
        if (isLonger(text, this.messageBytes)) {
            const most = `the ${this.messageBytes} bytes that the daemon takes`;
            const reason = `the call of ${call.task} is longer than ${most}: ${goesAsStream}`;
            this.#finish(call, notBegun("message.too_large", reason));
            return undefined;
        }
        call.waitTimer?.cancel();
        call.waitTimer = undefined;
        if (call.settings.isOneWay) {
            this.#finish(call, undefined, undefined);
        } else {
            call.state = "inFlight";
            this.#inFlight.set(call.id, call);
        }
        return text;
    }

    /** What a message says of the deadline. */
    #timeLeft({ deadline }) {
        if (deadline === undefined) return undefined;
        return deadline === Infinity ? noTimeout : Math.max(1, Math.ceil(deadline - this.#timers.now()));
    }

    /** A callback of the protocol. */
    receive(message) {
        const call = this.#inFlight.get(message.callbackId);
        if (!call) {
            if (message.callbackId === null) this.#onProblem(BridgeError.from(message.error) ?? message);
            return;
        }
        const hasResult = message.result !== undefined;
        const hasError = message.error !== undefined;
        if (hasResult && !hasError) return this.#finish(call, undefined, message.result);
        const error = hasResult ? undefined : BridgeError.from(message.error);
        if (!error) {
            const reason = "the callback has not one of result and error, or its error no code and message";
            return this.#finish(call, new BridgeError("reply.invalid", reason));
        }
        if (error.code === "daemon.stopping" && error.started === false && this.#settings.onShuttingDown()) {
            // Nothing was done: the call goes to the next daemon, if there is room for it until then.
            if (!call.settings.isInSession && this.#unconnected.hasRoom(call)) {
                this.#inFlight.delete(call.id);
                call.lastSequence = -1;
                return this.#wait(call);
            }
        }
        this.#finish(call, error);
    }

    receiveProgress(message) {
        const call = this.#inFlight.get(message.callbackId);
        if (!call || typeof call.settings.onProgress !== "function") return;
        const sequence = Number.isSafeInteger(message.sequence) ? message.sequence : call.lastSequence + 1;
        if (sequence <= call.lastSequence) return;
        call.lastSequence = sequence;
        try {
            call.settings.onProgress(message.progress, sequence);
        } catch (error) {
            this.#onProblem(error);
        }
    }

    /** The callback of this id came, and cannot be read. */
    receiveUnreadable(id, code, reason) {
        const call = this.#inFlight.get(id);
        if (call) this.#finish(call, new BridgeError(code, reason, { data: { started: true } }));
    }

    #deadlinePassed(call) {
        const error = (reason, started) => (
            new BridgeError("call.timeout", reason, { data: { started }, transient: true }));
        if (call.state === "waiting") {
            const what = this.#isUp ? "the daemon took no more" : "no connection to the daemon came";
            return this.#endHere(call, error(`${what} before the deadline of the call of ${call.task}`, false));
        }
        // The daemon reports the deadline itself, a moment later than it passed here.
        this.#after(call, this.#settings.grace, () => {
            this.#endHere(call, error(`neither a callback of ${call.task} nor word of its deadline came`, true));
        });
    }

    #cancel(call, cause) {
        this.#endHere(call, cancelledHere(call.task, call.state === "inFlight", cause));
    }

    /** Ends a call here, and cancels it at the daemon where that knows of it. */
    #endHere(call, error) {
        const isKnown = call.state === "inFlight";
        if (!this.#finish(call, error)) return;
        if (isKnown) this.#outbox.sendInSession(plainMessage(cancelText(call.id)));
    }

    /** The only place where a call ends. */
    #finish(call, error, result) {
        if (call.state === "ended") return false;
        call.state = "ended";
        this.#inFlight.delete(call.id);
        if (this.#waiting.delete(call)) this.#outbox.remove(call);
        this.#unconnected.delete(call);
        for (const timer of call.timers) timer.cancel();
        if (call.onAbort) call.settings.signal.removeEventListener("abort", call.onAbort);
        const { resolve, reject } = call;
        // Maps that have grown keep what was in them until the next full collection: not these.
        call.resolve = call.reject = call.optionsText = undefined;
        if (error) reject(error);
        else resolve(result);
        return true;
    }

    #after(call, delay, action) {
        const timer = this.#timers.after(delay, action);
        call.timers.push(timer);
        return timer;
    }

    // The connection.

    /** A session takes calls. */
    connectionUp() {
        this.#isUp = this.#wasUp = true;
        this.#reason = undefined;
        for (const call of this.#unconnected.takeAll()) {
            call.waitTimer?.cancel();
            call.waitTimer = undefined;
        }
    }

    /** No session takes calls for now. Calls in flight go on. */
    hold() {
        this.#isUp = false;
        for (const call of this.#waiting) if (!call.settings.isInSession) this.#awaitConnection(call);
    }

    /** The connection is gone, and its calls with it. Those that waited for one go on waiting. */
    connectionLost(error) {
        this.#reason = error;
        this.lossCount += 1;
        for (const call of [...this.#inFlight.values()]) this.#finish(call, ending(error, call.task, true));
        for (const call of [...this.#waiting]) {
            if (this.#isUp || call.settings.isInSession) this.#finish(call, ending(error, call.task, false));
        }
        this.hold();
    }

    /** Nothing can be called from now on. What is one-way and waits may still be written where a session takes it. */
    close(error = closedHere()) {
        if (this.#end) return;
        this.#end = error;
        for (const call of [...this.#inFlight.values()]) this.#endHere(call, ending(error, call.task, true));
        for (const call of [...this.#waiting]) {
            if (!(call.settings.isOneWay && this.#isUp)) this.#finish(call, ending(error, call.task, false));
        }
    }

    /** Whether calls are no longer possible. */
    get hasEnded() {
        return this.#end !== undefined;
    }

    /** One-way calls that could not be written before the end. */
    abandon() {
        const error = this.#end ?? closedHere();
        for (const call of [...this.#waiting]) this.#finish(call, ending(error, call.task, false));
    }
}
