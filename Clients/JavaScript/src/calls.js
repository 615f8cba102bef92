// The calls that this client makes. Each call ends exactly once: by its callback, its deadline, its AbortSignal, the
// loss of the connection, or the closing of the bridge.
//
// A call is first waiting (in the outbox), then in flight (given to the carrier, and in the table by its id), then
// ended. A call that waits for a connection survives the loss of one. A call that waits only for room in a carrier ends
// with that connection. Ids count up and are never reused, not even across connections: a late or repeated message
// matches no call and is ignored.

import { checkArguments } from "./callArguments.js";
import { BridgeError, cancelledHere, closedHere, ending, goesAsStream, notBegun, unreachable } from "./errors.js";
import { callText, cancelText, isLonger } from "./messages.js";
import { plainMessage } from "./outbox.js";
import { WaitingCalls } from "./waitingCalls.js";

/** The `timeout` of a message that means no timeout, in milliseconds: the longest that the daemon accepts. */
const noTimeout = 366 * 24 * 60 * 60 * 1000;

export class Calls {
    /** The maximum length of a message to the daemon, in bytes; from `bridge.hello`. */
    messageBytes = 1 << 20;
    /** The number of lost connections. A caller compares it before and after a call to detect a loss. */
    lossCount = 0;

    #outbox;
    #timers;
    #settings;
    #onProblem;
    #waiting = new Set();
    /** The waiting calls that wait for a connection. */
    #unconnected;
    #inFlight = new Map();
    #lastId = 0;
    #isUp = false;
    #wasUp = false;
    /** The reason why there is no connection. It is the cause of the error of a call that waits too long. */
    #reason = undefined;
    #end = undefined;

    /**
     * @param settings `grace`, `maxWait`, `maxWaitingCalls`, `maxWaitingBytes`; `onWaiting()`: a call needs a
     *   connection; `onShuttingDown()`: returns whether calls wait for the next daemon
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
     * @param settings `signal`, `timeout`, `onProgress`, `session`; `isOneWay`; `isInSession`: whether the call belongs
     *   to the current session only, and is sent before the calls of the program
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

    /** Makes a call wait for a connection. Without a deadline of its own, it waits for at most `maxWait`. */
    #awaitConnection(call) {
        this.#unconnected.add(call);
        if (call.deadline !== undefined || call.waitTimer) return;
        const { maxWait } = this.#settings;
        call.waitTimer = this.#after(call, Math.max(0, call.madeAt + maxWait - this.#timers.now()), () => {
            const why = this.#reason ? ` (${this.#reason.message})` : "";
            const what = this.#wasUp ? "the connection was lost and not restored" : "there was no connection";
            const error = unreachable(`${what} for ${maxWait / 1000} s${why}`, this.#reason?.data);
            error.cause = this.#reason;
            this.#endHere(call, ending(error, call.task, false));
        });
    }

    /** Returns the message when it is written; `undefined` if the call has ended or cannot be sent. */
    #take(call) {
        if (call.state !== "waiting") return undefined;
        this.#waiting.delete(call);
        const text = callText({
            task: call.task, id: call.id, optionsText: call.optionsText, session: call.settings.session,
            wantsProgress: typeof call.settings.onProgress === "function",
            timeout: call.settings.isOneWay ? undefined : this.#timeLeft(call),
        });
        if (isLonger(text, this.messageBytes)) {
            const most = `the daemon's maximum of ${this.messageBytes} bytes`;
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

    /** Returns the `timeout` of the message; `undefined` if the call has no deadline of its own. */
    #timeLeft({ deadline }) {
        if (deadline === undefined) return undefined;
        return deadline === Infinity ? noTimeout : Math.max(1, Math.ceil(deadline - this.#timers.now()));
    }

    /** Handles a callback of the protocol. */
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
            // Nothing was done: the call goes to the next daemon, if there is room for it to wait.
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

    /** Ends the call of a callback that arrived but cannot be read. */
    receiveUnreadable(id, code, reason) {
        const call = this.#inFlight.get(id);
        if (call) this.#finish(call, new BridgeError(code, reason, { data: { started: true } }));
    }

    #deadlinePassed(call) {
        const error = (reason, started) => (
            new BridgeError("call.timeout", reason, { data: { started }, transient: true }));
        if (call.state === "waiting") {
            const what = this.#isUp ? "the daemon accepted no more data" : "there was no connection to the daemon";
            return this.#endHere(call, error(`${what} before the deadline of the call of ${call.task}`, false));
        }
        // The daemon reports the deadline itself, slightly later than it passes here.
        this.#after(call, this.#settings.grace, () => {
            this.#endHere(call, error(`the daemon sent neither a callback of ${call.task} nor its timeout`, true));
        });
    }

    #cancel(call, cause) {
        this.#endHere(call, cancelledHere(call.task, call.state === "inFlight", cause));
    }

    /** Ends a call here. If it was sent to the daemon, sends a cancel as well. */
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
        // A Map that has grown may keep deleted entries until the next full collection. This releases the values.
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

    /** Handles that a session accepts calls. */
    connectionUp() {
        this.#isUp = this.#wasUp = true;
        this.#reason = undefined;
        for (const call of this.#unconnected.takeAll()) {
            call.waitTimer?.cancel();
            call.waitTimer = undefined;
        }
    }

    /** Handles that no session accepts calls at the moment. Calls in flight continue. */
    hold() {
        this.#isUp = false;
        for (const call of this.#waiting) if (!call.settings.isInSession) this.#awaitConnection(call);
    }

    /** Ends the calls of a lost connection. Calls that wait for a connection continue to wait. */
    connectionLost(error) {
        this.#reason = error;
        this.lossCount += 1;
        for (const call of [...this.#inFlight.values()]) this.#finish(call, ending(error, call.task, true));
        for (const call of [...this.#waiting]) {
            if (this.#isUp || call.settings.isInSession) this.#finish(call, ending(error, call.task, false));
        }
        this.hold();
    }

    /** Ends all calls and refuses new ones. Waiting one-way calls may still be written if a session accepts calls. */
    close(error = closedHere()) {
        if (this.#end) return;
        this.#end = error;
        for (const call of [...this.#inFlight.values()]) this.#endHere(call, ending(error, call.task, true));
        for (const call of [...this.#waiting]) {
            if (!(call.settings.isOneWay && this.#isUp)) this.#finish(call, ending(error, call.task, false));
        }
    }

    /** Whether this object refuses all new calls. */
    get hasEnded() {
        return this.#end !== undefined;
    }

    /** Ends the one-way calls that could not be written before the end. */
    abandon() {
        const error = this.#end ?? closedHere();
        for (const call of [...this.#waiting]) this.#finish(call, ending(error, call.task, false));
    }
}
