// The calls that this end makes. Each ends exactly once, whatever happens: by its callback, by its deadline, by its
// AbortSignal, by the loss of the connection, or by the closing of the bridge.
//
// A call waits (in the outbox), is in flight (given to the carrier, and in the table by its id), and has ended. Calls
// that wait for a connection outlive the loss of one; those that wait only for room in a carrier are that connection's,
// and end with it. Ids count up and are never used twice, not even across connections, so what comes late or twice
// matches nothing and is passed over.

import { BridgeError, cancelledHere, closedHere, ending, forCall, notBegun, unreachable } from "./errors.js";
import { byteLength, callText, cancelText, encodeValue, isLonger } from "./messages.js";
import { plainMessage } from "./outbox.js";
import { WaitingCalls } from "./waitingCalls.js";

/** The longest `timeout` that the daemon takes, a year. */
const longestTimeoutMs = 365 * 24 * 60 * 60 * 1000;
/** What the rest of a message needs at most, beside task and options. */
const envelopeBytes = 96;

export class Calls {
    /** The longest message that the daemon takes, in bytes; told by `bridge.hello`. */
    messageBytes = 1 << 20;
    /** How many connections were lost: whoever compares knows whether it was that which ended a call. */
    lossCount = 0;

    #outbox;
    #timers;
    #settings;
    #onProblem;
    #waiting = new Set();
    /** Those of them that wait for a connection. */
    #apart;
    #inFlight = new Map();
    #lastId = 0;
    #isUp = false;
    #wasUp = false;
    /** Why there is no connection: what a call that waited too long is told. */
    #reason = undefined;
    #end = undefined;

    /**
     * @param settings `graceMs`, `waitMs`, `maxWaitingCalls`, `maxWaitingBytes`; `onWaiting`: a call wants a
     *   connection; `onShuttingDown`: whether to hold calls
     */
    constructor(outbox, timers, settings, onProblem) {
        this.#outbox = outbox;
        this.#timers = timers;
        this.#settings = settings;
        this.#apart = new WaitingCalls(settings);
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
        const { signal, timeout, session } = settings;
        if (typeof task !== "string" || task === "") {
            throw notBegun("task.not_found", "a call needs the name of a task; bridge.tasks lists those there are");
        }
        if (this.#end) throw ending(this.#end, task, false);
        if (signal?.aborted) throw cancelledHere(task, false, signal.reason);
        if (timeout !== undefined) {
            if (typeof timeout !== "number" || !(timeout > 0 && timeout <= longestTimeoutMs)) {
                throw notBegun("options.invalid", "a timeout is a number of milliseconds above 0, at most a year");
            }
            call.timeoutMs = Math.ceil(timeout);
        }
        if (session !== undefined && !Number.isSafeInteger(session)) {
            throw notBegun("options.invalid", "a session is an integer");
        }
        if (options !== undefined) {
            try {
                call.optionsText = encodeValue(options, "options.invalid", `the options of ${task}`);
            } catch (error) {
                throw forCall(error, false);
            }
        }
        call.bytes = envelopeBytes + byteLength(task) + (call.optionsText ? byteLength(call.optionsText) : 0);
        if (settings.isInSession) return;
        if (!this.#isUp) this.#apart.checkRoom(call);
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
        if (call.timeoutMs !== undefined) {
            call.deadline = call.madeAt + call.timeoutMs;
            this.#after(call, call.timeoutMs, () => this.#deadlinePassed(call));
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
        if (!this.#isUp) this.#waitApart(call);
        this.#outbox.sendCall(call);
        if (call.state === "waiting") this.#settings.onWaiting();
    }

    /** Without a deadline of its own, a call waits for a connection no longer than the settings say. */
    #waitApart(call) {
        this.#apart.add(call);
        if (call.deadline !== undefined || call.waitTimer) return;
        const { waitMs } = this.#settings;
        call.waitTimer = this.#after(call, Math.max(0, call.madeAt + waitMs - this.#timers.now()), () => {
            const why = this.#reason ? ` (${this.#reason.message})` : "";
            const what = this.#wasUp ? "the connection was lost, and no other came" : "no connection came";
            const error = unreachable(`${what} for ${waitMs / 1000} s${why}`, this.#reason?.data);
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
            timeoutMs: call.deadline === undefined || call.settings.isOneWay
                ? undefined : Math.max(1, Math.ceil(call.deadline - this.#timers.now())),
        });
        if (isLonger(text, this.messageBytes)) {
            const reason = `the call of ${call.task} is longer than the daemon takes, ${this.messageBytes} bytes`;
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

    // The ends of a call.

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
            if (!call.settings.isInSession && this.#apart.hasRoom(call)) {
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
        this.#after(call, this.#settings.graceMs, () => {
            this.#endHere(call, error(`neither a callback of ${call.task} nor word of its deadline came`, true));
        });
    }

    #cancel(call, cause) {
        this.#endHere(call, cancelledHere(call.task, call.state === "inFlight", cause));
    }

    /** Ends a call here; the daemon is told where it knows of it. */
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
        this.#apart.delete(call);
        for (const timer of call.timers) timer.cancel();
        if (call.onAbort) call.settings.signal.removeEventListener("abort", call.onAbort);
        if (error) call.reject(error);
        else call.resolve(result);
        return true;
    }

    #after(call, delayMs, action) {
        const timer = this.#timers.after(delayMs, action);
        call.timers.push(timer);
        return timer;
    }

    // The connection.

    /** A session takes calls. */
    connectionUp() {
        this.#isUp = this.#wasUp = true;
        this.#reason = undefined;
        for (const call of this.#apart.takeAll()) {
            call.waitTimer?.cancel();
            call.waitTimer = undefined;
        }
    }

    /** No session takes calls for now. Calls in flight go on. */
    hold() {
        this.#isUp = false;
        for (const call of this.#waiting) if (!call.settings.isInSession) this.#waitApart(call);
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

    /** Nothing can be called any more. What is one-way and waits may still be written where a session takes it. */
    close(error = closedHere()) {
        if (this.#end) return;
        this.#end = error;
        for (const call of [...this.#inFlight.values()]) this.#endHere(call, ending(error, call.task, true));
        for (const call of [...this.#waiting]) {
            if (!(call.settings.isOneWay && this.#isUp)) this.#finish(call, ending(error, call.task, false));
        }
    }

    /** Whether nothing can be called any more. */
    get hasEnded() {
        return this.#end !== undefined;
    }

    /** One-way calls that could not be written before the end. */
    abandon() {
        const error = this.#end ?? closedHere();
        for (const call of [...this.#waiting]) this.#finish(call, ending(error, call.task, false));
    }
}
