// The client library of the Trestle bridge, as a plain script. Made by scripts/build-classic.mjs from src.
// SPDX-License-Identifier: Apache-2.0
(function () {
"use strict";

// How long to wait before the next attempt to connect: growing, so that a daemon that is away is not pestered, and
// scattered, so that many clients of one daemon do not all come back in the same moment.

class Backoff {
    #firstMs;
    #longestMs;
    #random;
    #attempts = 0;
    #lastMs = 0;

    /** Delays grow from `firstMs` by doubling up to `longestMs`; each is scattered between a half of that and all. */
    constructor({ firstMs = 100, longestMs = 15_000, random = Math.random } = {}) {
        this.#firstMs = firstMs;
        this.#longestMs = longestMs;
        this.#random = random;
    }

    /** The next delay in milliseconds. */
    next() {
        // The exponent is bounded because 2 ** 1024 is no number any more.
        const full = Math.min(this.#longestMs, this.#firstMs * 2 ** Math.min(this.#attempts, 32));
        this.#attempts += 1;
        this.#lastMs = full * (0.5 + 0.5 * this.#random());
        return this.#lastMs;
    }

    /**
     * A connection was good for so long. Delays begin anew only where it outlived the last one: a daemon that takes
     * connections and drops them at once must not be tried at full speed.
     */
    connectedFor(durationMs) {
        if (durationMs >= this.#lastMs) this.#attempts = 0;
    }
}

// The one kind of error that this library rejects with, and the errors that it makes itself.
//
// Codes are those of the protocol. The library adds what no daemon can say: `daemon.unreachable` and `connection.denied`.

/** An error of a call: what the daemon or the task said, or what the library found out by itself. */
class BridgeError extends Error {
    /**
     * @param {string} code what went wrong, for programs; not empty
     * @param {string} message a sentence for a person
     * @param {{data?: unknown, transient?: boolean, retryAfter?: number, cause?: unknown}} [details]
     */
    constructor(code, message, details = {}) {
        super(String(message));
        if (typeof code !== "string" || code === "") throw new TypeError("the code of an error is a string, not empty");
        this.name = "BridgeError";
        this.code = code;
        this.data = details.data;
        this.transient = details.transient === true;
        this.retryAfter = details.retryAfter;
        if (details.cause !== undefined) this.cause = details.cause;
    }

    /**
     * Whether the work of the call may have begun: `false` means that nothing was done and sending it again is safe,
     * `true` that it may have had its effect, `undefined` that nobody says.
     */
    get started() {
        const started = isObject(this.data) ? this.data.started : undefined;
        return typeof started === "boolean" ? started : undefined;
    }

    /** The error object as it travels. */
    toJSON() {
        const json = { code: this.code, message: this.message };
        if (this.data !== undefined) json.data = this.data;
        if (this.transient) json.transient = true;
        if (this.retryAfter !== undefined) json.retryAfter = this.retryAfter;
        return json;
    }

    /** Reads an error object of the protocol; undefined where it is none. */
    static from(json) {
        if (!isObject(json) || typeof json.code !== "string" || json.code === "") return undefined;
        if (typeof json.message !== "string") return undefined;
        const retryAfter = typeof json.retryAfter === "number" ? json.retryAfter : undefined;
        return new BridgeError(json.code, json.message, {
            data: json.data, transient: json.transient === true, retryAfter,
        });
    }
}

/** Whether a JSON value is an object (and no array). */
function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Nobody listens, or nobody answers. */
function unreachable(reason, data) {
    const place = data?.path === undefined ? "" : ` at ${data.path}`;
    return new BridgeError("daemon.unreachable", `no daemon${place}: ${reason}`, { data, transient: true });
}

/** The end of a connection that this end did not want. */
function connectionLost(reason) {
    return new BridgeError("session.closed", `the connection to the daemon was lost (${reason})`, { transient: true });
}

/** The end of a connection that this end wanted. */
function closedHere() {
    return new BridgeError("session.closed", "the connection to the daemon was closed here");
}

/** The end that `closeWeb` brings: there shall be no other session. */
function closedOnPurpose(info) {
    return new BridgeError("session.closed", "the daemon closed this session on purpose (closeWeb)", { data: { info } });
}

/** The same error, for one call: with what is known of its work. */
function forCall(error, started) {
    const data = { ...(isObject(error.data) ? error.data : {}), started };
    return new BridgeError(error.code, error.message, {
        data, transient: error.transient, retryAfter: error.retryAfter, cause: error.cause,
    });
}

/** A call that was ended here because its signal was aborted. */
function cancelledHere(task, started, cause) {
    const name = typeof task === "string" ? task : "a task";
    return new BridgeError("call.cancelled", `the call of ${name} was cancelled here`, { data: { started }, cause });
}

/** A call that is refused here. */
function notBegun(code, message) {
    return new BridgeError(code, message, { data: { started: false } });
}

/** What a call of this task ends with that is ended by this error: whether it may have begun is known. */
function ending(error, task, started) {
    const effect = started ? "may have had its effect" : "had not been sent";
    const ended = forCall(error, started);
    ended.message = `${error.message}; the call of ${task} ${effect}`;
    return ended;
}

/** Any thrown value in words. */
function describe(thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
}

// The text of messages: what the daemon would refuse is found out here, where somebody can still be told. That matters
// most for answers of provided tasks, because the daemon drops one that it cannot read, and the caller waits in vain.


/** How deep the daemon lets a message nest, its own braces included. */
const deepestNesting = 128;

const encoder = new TextEncoder();

/** The length of a text in UTF-8. */
function byteLength(text) {
    return encoder.encode(text).length;
}

/** Whether a text has more than so many bytes in UTF-8; cheap where it is far from it. */
function isLonger(text, bytes) {
    return text.length * 3 > bytes && (text.length > bytes || byteLength(text) > bytes);
}

/**
 * The JSON of a value that a message carries as a member.
 * @throws {BridgeError} with `code` where there is none, or the daemon would not take it.
 */
function encodeValue(value, code, what) {
    const refuse = (reason) => {
        throw new BridgeError(code, `${what} cannot be sent as JSON: ${reason}`);
    };
    let text;
    try {
        text = JSON.stringify(value);
    } catch (error) {
        refuse(describe(error));
    }
    if (text === undefined) refuse(`it is of the type ${typeof value}`);
    if (hasLoneSurrogate(text)) refuse("there is half a surrogate pair in a string");
    if (nestingOf(text) >= deepestNesting) refuse(`more than ${deepestNesting - 1} levels are nested`);
    return text;
}

/** JSON.stringify writes an escape of a surrogate only where its other half is missing. */
function hasLoneSurrogate(text) {
    return text.includes("\\ud") && /(?:^|[^\\])(?:\\\\)*\\ud[89a-f]/.test(text);
}

function nestingOf(text) {
    // Each level takes two characters.
    if (text.length < 2 * deepestNesting) return 0;
    let depth = 0;
    let deepest = 0;
    let inString = false;
    for (let index = 0; index < text.length; index += 1) {
        const unit = text.charCodeAt(index);
        if (inString) {
            if (unit === 0x5c) index += 1;
            else if (unit === 0x22) inString = false;
        } else if (unit === 0x22) inString = true;
        else if (unit === 0x7b || unit === 0x5b) {
            depth += 1;
            if (depth > deepest) deepest = depth;
        } else if (unit === 0x7d || unit === 0x5d) depth -= 1;
    }
    return deepest;
}

/**
 * A call. The id stands before the options: of a line that it finds too long the daemon reads the id only near the
 * beginning.
 */
function callText({ task, id, timeoutMs, wantsProgress, session, optionsText }) {
    let text = `{"task":${JSON.stringify(task)}`;
    if (id !== undefined) text += `,"callbackId":${id}`;
    if (timeoutMs !== undefined) text += `,"timeout":${timeoutMs}`;
    if (wantsProgress) text += `,"progress":true`;
    if (session !== undefined) text += `,"session":${session}`;
    if (optionsText !== undefined) text += `,"options":${optionsText}`;
    return text + "}";
}

function cancelText(id) {
    return `{"cancel":${id}}`;
}

function resultText(id, valueText) {
    return `{"callbackId":${JSON.stringify(id)},"result":${valueText}}`;
}

function errorText(id, error) {
    return `{"callbackId":${JSON.stringify(id)},"error":${encodeValue(error, "internal", "the error")}}`;
}

function progressText(id, valueText, sequence) {
    return `{"callbackId":${JSON.stringify(id)},"progress":${valueText},"sequence":${sequence}}`;
}

// Messages on their way out, in two lanes. What belongs to the current session (cancels, callbacks, progress, and the
// calls that restore a session) goes first and ends with the session. Calls of the program wait for a session that
// takes them, in the order in which they were made; which of them outlive the loss of a connection, Calls knows.
//
// A carrier that is full is not written to until it says so. What waits meanwhile is bounded: `hasRoom` says whether
// one more call may wait. Messages of the session are not refused, because every callback has to be sent; the daemon
// bounds their number by the calls that it forwards.

/**
 * @typedef {object} OutgoingCall
 * @property {number} order its place: lower ones go first
 * @property {number} bytes what it counts while it waits
 * @property {() => string | undefined} take its text, at the moment of writing; undefined: it is not to be sent any
 * more
 * @property {(error: unknown) => void} failed the carrier refused it
 */

class Outbox {
    /** Calls stay where they are while this is set: no session takes them. */
    isHeld = true;

    #mostBytes;
    #sessionLane = [];
    #callLane = new Map();
    #highestOrder = 0;
    #queuedBytes = 0;
    #carrier = undefined;
    #isFull = false;
    #onProblem;

    constructor(mostBytes, onProblem) {
        this.#mostBytes = mostBytes;
        this.#onProblem = onProblem;
    }

    /** Bytes that wait in both lanes. */
    get queuedBytes() {
        return this.#queuedBytes;
    }

    get isEmpty() {
        return this.#sessionLane.length === 0 && this.#callLane.size === 0;
    }

    /** Whether a call of so many bytes may wait. One alone always may, so that the bound never forbids a message. */
    hasRoom(bytes) {
        return this.#queuedBytes === 0 || this.#queuedBytes + bytes <= this.#mostBytes;
    }

    attach(carrier) {
        this.#carrier = carrier;
        this.#isFull = false;
    }

    /** The session is over. Calls stay until they are removed. */
    detach() {
        this.#carrier = undefined;
        this.isHeld = true;
        for (const message of this.#sessionLane) this.#queuedBytes -= message.bytes;
        this.#sessionLane = [];
    }

    /** Sends a message of this session. */
    sendInSession(message) {
        if (!this.#carrier) return;
        this.#sessionLane.push(message);
        this.#queuedBytes += message.bytes;
        this.flush();
    }

    /** Sends a call as soon as a session takes it. */
    sendCall(call) {
        // Only what is sent again is older than others; it goes back to its place.
        const isOutOfOrder = call.order < this.#highestOrder;
        this.#highestOrder = Math.max(call.order, this.#highestOrder);
        this.#callLane.set(call.order, call);
        this.#queuedBytes += call.bytes;
        if (isOutOfOrder) this.#callLane = new Map([...this.#callLane].sort(([one], [other]) => one - other));
        this.flush();
    }

    /** Takes a call back that has not been written. */
    remove(call) {
        if (this.#callLane.delete(call.order)) this.#queuedBytes -= call.bytes;
    }

    /** The carrier takes more. */
    drained() {
        this.#isFull = false;
        this.flush();
    }

    flush() {
        while (this.#carrier && !this.#isFull) {
            const message = this.#next();
            if (!message) return;
            const text = message.take();
            if (text === undefined) continue;
            try {
                if (this.#carrier.write(text) === false) this.#isFull = true;
            } catch (error) {
                this.#onProblem(error);
                message.failed?.(error);
            }
        }
    }

    #next() {
        let message = this.#sessionLane.shift();
        if (!message && !this.isHeld) {
            for (message of this.#callLane.values()) break;
            if (message) this.#callLane.delete(message.order);
        }
        if (message) this.#queuedBytes -= message.bytes;
        return message;
    }
}

/** A message of the session whose text is known already. */
function plainMessage(text) {
    return { bytes: text.length, take: () => text };
}

// Calls that wait for a connection: only so many, and only so long together.


/** What a caller is told to wait for when too many wait: about as long as the first attempts to connect take. */
const waitingFullRetryAfter = 1000;

class WaitingCalls {
    #mostCalls;
    #mostBytes;
    #calls = new Set();
    #bytes = 0;

    constructor({ maxWaitingCalls, maxWaitingBytes }) {
        this.#mostCalls = maxWaitingCalls;
        this.#mostBytes = maxWaitingBytes;
    }

    hasRoom(call) {
        return this.#calls.size < this.#mostCalls && this.#bytes + call.bytes <= this.#mostBytes;
    }

    /** @throws {BridgeError} `busy`, where there is no room for one more */
    checkRoom(call) {
        if (this.hasRoom(call)) return;
        const reason = `${this.#calls.size} calls with ${this.#bytes} bytes wait for a connection to the daemon`;
        throw new BridgeError("busy", `${reason}, as many as may`, {
            data: { started: false }, transient: true, retryAfter: waitingFullRetryAfter,
        });
    }

    add(call) {
        if (this.#calls.has(call)) return;
        this.#calls.add(call);
        this.#bytes += call.bytes;
    }

    delete(call) {
        if (this.#calls.delete(call)) this.#bytes -= call.bytes;
    }

    /** There is a connection. Returns those that waited. */
    takeAll() {
        const calls = this.#calls;
        this.#calls = new Set();
        this.#bytes = 0;
        return calls;
    }
}

// The calls that this end makes. Each ends exactly once, whatever happens: by its callback, by its deadline, by its
// AbortSignal, by the loss of the connection, or by the closing of the bridge.
//
// A call waits (in the outbox), is in flight (given to the carrier, and in the table by its id), and has ended. Calls
// that wait for a connection outlive the loss of one; those that wait only for room in a carrier are that connection's,
// and end with it. Ids count up and are never used twice, not even across connections, so what comes late or twice
// matches nothing and is passed over.


/** The longest `timeout` that the daemon takes, a year. */
const longestTimeoutMs = 365 * 24 * 60 * 60 * 1000;
/** What the rest of a message needs at most, beside task and options. */
const envelopeBytes = 96;

class Calls {
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

// The carrier of anything that has `postMessage` and `message` events: a MessagePort, a Worker, the inside of a worker,
// another window. Each message is the text of one message; values are taken as well. The port stays its owner's: it is
// not closed with the bridge.


/** A MessagePort, a Worker, a worker's own scope; in Node also what has `on` in place of `addEventListener`. */
function portCarrier(port) {
    return carrier({
        target: port,
        post: (text) => port.postMessage(text),
        accepts: () => true,
    });
}

/**
 * Another window, such as the frame's parent.
 * @param origin whom messages are for, and from whom they are taken; there is no default, because a message sent to any
 *   origin can be read by any
 */
function windowCarrier(window, origin) {
    if (typeof origin !== "string" || origin === "" || origin === "*") {
        throw new BridgeError("options.invalid", "a bridge to another window needs that window's origin");
    }
    return carrier({
        target: globalThis,
        post: (text) => window.postMessage(text, origin),
        accepts: (event) => event.source === window && event.origin === origin,
    });
}

function carrier({ target, post, accepts }) {
    let events;
    const listeners = {
        message(event) {
            // Emitters of Node's workers hand over the value itself.
            const isEvent = typeof target.addEventListener === "function";
            if (isEvent && !accepts(event)) return;
            events.message(isEvent ? event.data : event);
        },
        messageerror() {
            events.problem(new BridgeError("message.invalid", "a message came that cannot be read"));
        },
        close() {
            finish("the port was closed");
        },
        exit() {
            finish("the worker ended");
        },
    };
    const [add, remove] = typeof target.addEventListener === "function"
        ? ["addEventListener", "removeEventListener"] : ["on", "off"];

    function finish(reason) {
        detach();
        events.closed(connectionLost(reason));
    }

    function detach() {
        for (const [name, listener] of Object.entries(listeners)) target[remove](name, listener);
    }

    return {
        canReopen: false,
        awaitsHello: false,
        open(listener) {
            events = listener;
            for (const [name, listening] of Object.entries(listeners)) target[add](name, listening);
            // A MessagePort is silent until it is started.
            target.start?.();
            events.opened();
        },
        write(text) {
            post(text);
            return true;
        },
        end() {
            finish("it was closed here");
        },
        destroy: detach,
        keepAlive(keeps) {
            keeps ? target.ref?.() : target.unref?.();
        },
    };
}

// The carrier of a page in a web view: messages go out through a handler of the container, and come in by the container
// calling `WebBridge.receive`.

/** The handler that a container offers under the name `bridge`; undefined where there is none. */
function webViewHandler() {
    const handler = globalThis.webkit?.messageHandlers?.bridge;
    return typeof handler?.postMessage === "function" ? handler : undefined;
}

/** @param handler an object with `postMessage(text)` */
function webViewCarrier(handler) {
    let events;
    return {
        canReopen: false,
        awaitsHello: false,
        open(listener) {
            events = listener;
            events.opened();
        },
        write(text) {
            // Some containers answer with a promise, which says nothing that the protocol does not.
            handler.postMessage(text)?.catch?.((error) => events.problem(error));
            return true;
        },
        end() {
            events.closed();
        },
        destroy() {},
        keepAlive() {},
    };
}

// Which carrier a bridge uses: the one that its options name, else the one that the surroundings offer.


/** Makes carriers of sockets; only there where modules and Node are. */
let socketCarriers;

/** Lends Unix sockets to this file, which itself must not name what browsers do not have. */
function offerSockets(makeCarrier) {
    socketCarriers = makeCarrier;
}

function chooseCarrier(options) {
    const { handler, port, window, origin, socket } = options;
    if (handler) return webViewCarrier(handler);
    if (port) return portCarrier(port);
    if (window) return windowCarrier(window, origin);
    if (socket !== undefined) return socketCarrier(options);
    const found = webViewHandler();
    if (found) return webViewCarrier(found);
    if (isNode()) return socketCarrier(options);
    if (isWorker()) return portCarrier(globalThis);
    throw unreachable("there is no web view's container, no Unix socket and no port here; name one in the options");
}

function socketCarrier(options) {
    if (!socketCarriers) throw new BridgeError("daemon.unreachable", "there are no Unix sockets here");
    return socketCarriers(options);
}

function isNode() {
    return typeof globalThis.process?.versions?.node === "string";
}

function isWorker() {
    const Scope = globalThis.WorkerGlobalScope;
    return typeof Scope === "function" && globalThis instanceof Scope && typeof globalThis.postMessage === "function";
}

// One connection after the other: opens a carrier, introduces the client, and, where the carrier can be opened anew,
// does so when it was lost, after a pause that grows. Everything that outlives a connection (calls, registrations,
// subscriptions) belongs to the bridge and is told of it by the `session` callbacks.
//
// States: idle → connecting → open → (lost) → waiting → connecting …, and closed in the end.
//
// A carrier carries messages. Its interface:
//
//   open(events)      Begins. `events` has opened(), message(textOrValue), unreadable(id), drained(), problem(error),
//                     and closed(error?): the last one, called once.
//   write(text)       Takes one message in any case; false: wait for drained() before the next.
//   end()             Delivers what was written, then closes; closed() follows.
//   destroy()         Closes at once. No event comes any more.
//   keepAlive(keeps)  Whether it keeps a Node process alive.
//   canReopen         Whether another carrier of its kind may be opened after it.
//   awaitsHello       Whether calls wait for the answer to bridge.hello. Not where a container stands between, which
//                     may know no such task.


/** How long a daemon may take to close its end after this end has. */
const closePatienceMs = 1000;
/** How long after a daemon refused calls because it stops they are tried again on a connection that is still there. */
const resumeAfterMs = 1000;

class Connection {
    state = "idle";
    /** What the daemon said of itself in answer to bridge.hello; undefined where it was not let ask. */
    hello = undefined;

    #makeCarrier;
    #settings;
    #timers;
    #backoff;
    #outbox;
    #session;
    #carrier = undefined;
    #sessionCount = 0;
    #openedAt = undefined;
    #patience = undefined;
    #retry = undefined;
    #resuming = undefined;
    #keepsAlive = true;
    /** Set when the next loss is the end: the session was closed on purpose, or this end closes. */
    #finalReason = undefined;
    #isClosing = false;
    /** The last error about no call in particular: where the connection ends now, it says why. */
    #lastProblem = undefined;
    #openWaiters = [];
    #closeWaiters = [];

    /**
     * @param session what is told: `introduce()` → promise of hello, `opened(hello)`, `learned(hello)`,
     *   `resumed()`, `message(message)`, `unreadable(id)`, `lost(error)`, `closed(error)`, `changed(change)`,
     *   `problem(error)`
     */
    constructor({ makeCarrier, settings, timers, backoff, outbox, session }) {
        this.#makeCarrier = makeCarrier;
        this.#settings = settings;
        this.#timers = timers;
        this.#backoff = backoff;
        this.#outbox = outbox;
        this.#session = session;
    }

    /** Begins to connect, unless it has. */
    start() {
        if (this.state === "idle") this.#attempt();
    }

    /** Resolves when the connection is open; rejects with what the next attempt fails with. */
    opened() {
        this.start();
        if (this.state === "open") return Promise.resolve(this.hello);
        if (this.state === "closed") return Promise.reject(this.#finalReason ?? closedHere());
        return new Promise((resolve, reject) => this.#openWaiters.push({ resolve, reject }));
    }

    #attempt() {
        this.#lastProblem = undefined;
        this.#change("connecting");
        // Who was told may have closed the bridge.
        if (this.state === "closed") return;
        let carrier;
        // Events of a carrier that is not the current one any more are passed over.
        const current = (action) => (...values) => (carrier === this.#carrier ? action(...values) : undefined);
        try {
            carrier = this.#makeCarrier();
            this.#carrier = carrier;
            this.#patience = this.#timers.after(this.#settings.connectTimeoutMs, () => {
                this.#lost(unreachable("it takes connections but does not answer"));
            });
            carrier.keepAlive(this.#keepsAlive);
            carrier.open({
                opened: current(() => this.#carrierOpened()),
                message: current((message) => this.receive(message)),
                unreadable: current((id) => this.#session.unreadable(id)),
                drained: current(() => this.#drained()),
                problem: current((error) => this.#session.problem(error)),
                closed: current((error) => this.#lost(error ?? connectionLost("it was closed"))),
            });
        } catch (error) {
            // Without a carrier there is nothing to try again.
            this.#finalReason = error instanceof BridgeError ? error : unreachable(String(error));
            this.#carrier = carrier;
            this.#lost(this.#finalReason);
        }
    }

    #carrierOpened() {
        this.#outbox.attach(this.#carrier);
        this.#beginSession();
    }

    #beginSession() {
        const carrier = this.#carrier;
        const sessionCount = ++this.#sessionCount;
        const isCurrent = () => carrier === this.#carrier && sessionCount === this.#sessionCount && !this.#isClosing;
        this.#session.introduce().then(
            (hello) => isCurrent() && this.#introduced(hello),
            (error) => isCurrent() && this.#introductionFailed(error));
        if (!carrier.awaitsHello) this.#open();
    }

    #introduced(hello) {
        this.hello = hello;
        if (this.state === "open") this.#session.learned(hello);
        else this.#open();
    }

    #introductionFailed(error) {
        // Who may not ask may still call what the daemon's rules let it call; but not under another origin than it
        // wants.
        const mayGoOn = ["permission.denied", "task.not_found"].includes(error.code) && !this.#settings.hello.origin;
        if (mayGoOn) return this.#introduced(undefined);
        if (this.state === "open") return this.#session.problem(error);
        if (error.code === "options.invalid" || error.code === "permission.denied") this.#finalReason = error;
        this.#lost(error);
    }

    #open() {
        this.#patience?.cancel();
        this.#openedAt = this.#timers.now();
        this.#lastProblem = undefined;
        this.state = "open";
        this.#session.opened(this.hello);
        this.#outbox.isHeld = false;
        this.#outbox.flush();
        for (const waiter of this.#openWaiters.splice(0)) waiter.resolve(this.hello);
        this.#change("open", { hello: this.hello });
    }

    /** One message, or an array of them, as text or as a value. */
    receive(message) {
        let value = message;
        if (typeof message === "string") {
            try {
                value = JSON.parse(message);
            } catch (error) {
                return this.#session.problem(new BridgeError("message.invalid", `no JSON came: ${error.message}`));
            }
        }
        for (const item of Array.isArray(value) ? value : [value]) {
            if (this.state === "closed") return;
            const problem = item?.callbackId === null ? BridgeError.from(item.error) : undefined;
            // Before the connection is open it can only be about that, and the end that follows tells it.
            if (problem && this.state !== "open") this.#lastProblem = problem;
            else this.#session.message(item);
        }
    }

    /**
     * Whether calls that the daemon refuses because it stops may wait for the next one; if so, they are held from now
     * on.
     */
    drain() {
        if (!this.#carrier?.canReopen || this.#finalReason || this.#isClosing) return false;
        this.#outbox.isHeld = true;
        // A daemon that hands its sessions on to the next one keeps the connection, and says nothing when it goes on.
        this.#resuming ??= this.#timers.after(resumeAfterMs, () => this.#resume());
        return true;
    }

    #resume() {
        this.#resuming = undefined;
        this.#session.resumed();
        this.#outbox.isHeld = false;
        this.#outbox.flush();
    }

    /** The session is being closed on purpose: there shall be no next one. */
    endsOnPurpose(reason) {
        this.#finalReason ??= reason;
        // Behind a container no end of a connection is seen.
        if (this.#carrier && !this.#carrier.awaitsHello) this.#lost(reason);
    }

    /** A container has lost the session and has begun a new one over the same carrier. */
    renew() {
        if (this.state !== "open") return;
        this.#outbox.detach();
        this.#session.lost(connectionLost("the container's connection ended"));
        this.#outbox.attach(this.#carrier);
        this.hello = undefined;
        this.#change("connecting");
        if (this.#carrier) this.#beginSession();
    }

    #lost(error) {
        const carrier = this.#carrier;
        this.#carrier = undefined;
        this.#patience?.cancel();
        this.#resuming?.cancel();
        this.#resuming = undefined;
        this.#outbox.detach();
        carrier?.destroy();
        if (this.#isClosing) return this.#finish(this.#finalReason);
        if (this.state === "open") this.#backoff.connectedFor(this.#timers.now() - this.#openedAt);
        // What was never open was not lost.
        const wasRefused = this.state === "connecting" && error.code === "session.closed";
        const reason = this.#finalReason ?? this.#lastProblem ?? (wasRefused ? unreachable(error.message) : error);
        this.hello = undefined;
        this.#session.lost(reason);
        // The queue of new connections being full says nothing about the daemon but that it is busy.
        if (reason.cause?.code !== "EAGAIN") {
            for (const waiter of this.#openWaiters.splice(0)) waiter.reject(reason);
        }
        // Those who were told may have closed the bridge meanwhile.
        if (this.#isClosing) return this.#finish(this.#finalReason);
        if (this.#finalReason || !carrier?.canReopen) return this.#finish(reason);
        const delayMs = this.#backoff.next();
        this.#retry = this.#timers.after(delayMs, () => this.#attempt());
        this.#change("waiting", { error: reason, delayMs });
    }

    // The end.

    /** Delivers what has been written to the outbox, and ends. Resolves when it has; a second at the latest. */
    close() {
        if (this.state === "closed") return Promise.resolve();
        const done = new Promise((resolve) => this.#closeWaiters.push(resolve));
        if (this.#isClosing) return done;
        this.#isClosing = true;
        this.#finalReason = closedHere();
        this.#retry?.cancel();
        if (this.state !== "open") {
            this.#lost(this.#finalReason);
            return done;
        }
        this.#patience = this.#timers.after(closePatienceMs, () => this.#lost(this.#finalReason));
        this.#outbox.flush();
        this.#endWhenWritten();
        return done;
    }

    #drained() {
        this.#outbox.drained();
        if (this.#isClosing) this.#endWhenWritten();
    }

    #endWhenWritten() {
        if (this.#outbox.isEmpty || this.#outbox.isHeld) this.#carrier?.end();
    }

    #finish(reason) {
        if (this.state === "closed") return;
        this.#finalReason = reason;
        this.#patience?.cancel();
        this.#retry?.cancel();
        this.#session.closed(reason);
        this.#change("closed", { error: reason });
        for (const waiter of this.#openWaiters.splice(0)) waiter.reject(reason);
        for (const resolve of this.#closeWaiters.splice(0)) resolve();
    }

    keepAlive(keeps) {
        this.#keepsAlive = keeps;
        this.#carrier?.keepAlive(keeps);
    }

    #change(state, details = {}) {
        this.state = state;
        this.#session.changed({ state, ...details });
    }
}

// Events on their way to a reader that takes them one by one. Bounded: of what nobody takes the oldest are dropped, and
// the reader is told how many by an event of its own, named as the daemon's.

class EventQueue {
    #capacity;
    #onEnd;
    #events = [];
    #dropped = 0;
    #readers = [];
    #hasEnded = false;

    constructor(capacity, onEnd) {
        this.#capacity = capacity;
        this.#onEnd = onEnd;
    }

    put(event) {
        if (this.#hasEnded) return;
        const reader = this.#readers.shift();
        if (reader) return reader({ value: event, done: false });
        if (this.#events.length >= this.#capacity) {
            this.#events.shift();
            this.#dropped += 1;
        }
        this.#events.push(event);
    }

    /** No more comes. What waits is still handed out. */
    end() {
        if (this.#hasEnded) return;
        this.#hasEnded = true;
        for (const reader of this.#readers.splice(0)) reader({ value: undefined, done: true });
        this.#onEnd();
    }

    next() {
        if (this.#dropped > 0) {
            const value = { event: "bridge.events_dropped", data: { count: this.#dropped } };
            this.#dropped = 0;
            return Promise.resolve({ value, done: false });
        }
        if (this.#events.length > 0) return Promise.resolve({ value: this.#events.shift(), done: false });
        if (this.#hasEnded) return Promise.resolve({ value: undefined, done: true });
        return new Promise((resolve) => this.#readers.push(resolve));
    }

    /** The reader wants no more: `break` in a `for await`. */
    return() {
        this.#events = [];
        this.#dropped = 0;
        this.end();
        return Promise.resolve({ value: undefined, done: true });
    }

    [Symbol.asyncIterator]() {
        return this;
    }
}

// What this end listens to. The daemon knows each pattern once, however many listeners want it, and is told again by
// every new session.


/** Events that wait for a slow reader, unless it says otherwise. */
const defaultCapacity = 1024;

class Subscriptions {
    #calls;
    #repeat;
    #onProblem;
    #listeners = new Set();
    #queues = new Set();

    /** @param repeat as in Provider */
    constructor(calls, repeat, onProblem) {
        this.#calls = calls;
        this.#repeat = repeat;
        this.#onProblem = onProblem;
    }

    /** Begins to listen. Returns the function that ends it; its `ready` resolves when the daemon has been told. */
    subscribe(patterns, listener) {
        if (typeof listener !== "function") throw new BridgeError("options.invalid", "a subscription needs a listener");
        return this.#add(patterns, listener, false);
    }

    /** The same, for a reader that takes events one by one. */
    events(patterns, { capacity = defaultCapacity } = {}) {
        if (!(capacity >= 1)) throw new BridgeError("options.invalid", "a queue has room for one event at least");
        const queue = new EventQueue(capacity, () => {
            this.#queues.delete(queue);
            stop();
        });
        const stop = this.#add(patterns, (event) => queue.put(event), true);
        this.#queues.add(queue);
        queue.ready = stop.ready;
        // Nothing would ever come.
        stop.ready.catch(() => queue.end());
        return queue;
    }

    #add(patterns, deliver, hearsOfDropped) {
        const list = [...new Set(Array.isArray(patterns) ? patterns : [patterns])];
        if (list.length === 0 || !list.every((pattern) => typeof pattern === "string" && pattern !== "")) {
            const reason = "a subscription needs names of events, or beginnings of names with * behind";
            throw new BridgeError("options.invalid", reason);
        }
        const listener = { patterns: list, deliver, hearsOfDropped, isConfirmed: false };
        // Before the daemon knows: the first event may come right behind the callback.
        this.#listeners.add(listener);
        const stop = () => this.#remove(listener);
        stop.ready = this.#repeat("bridge.subscribe", { events: list }).then(
            () => {
                listener.isConfirmed = true;
            },
            (error) => {
                this.#listeners.delete(listener);
                throw error;
            });
        // Who does not look at it is not to be bothered by an unhandled rejection.
        stop.ready.catch(() => {});
        return stop;
    }

    #remove(listener) {
        if (!this.#listeners.delete(listener)) return;
        const wanted = new Set([...this.#listeners].flatMap((other) => other.patterns));
        const unwanted = listener.patterns.filter((pattern) => !wanted.has(pattern));
        if (unwanted.length === 0) return;
        // Where it fails the session is gone, and the subscription with it.
        this.#calls.begin("bridge.unsubscribe", { events: unwanted }).promise.catch(() => {});
    }

    /** A new session knows nothing of the patterns. */
    restore() {
        const confirmed = [...this.#listeners].filter((listener) => listener.isConfirmed);
        const patterns = [...new Set(confirmed.flatMap((listener) => listener.patterns))];
        if (patterns.length === 0) return;
        this.#calls.begin("bridge.subscribe", { events: patterns }, { isInSession: true }).promise.catch((error) => {
            if (error.code !== "session.closed") this.#onProblem(error);
        });
    }

    receive(message) {
        const event = { event: message.event, data: message.data };
        const isAboutDropped = message.event === "bridge.events_dropped";
        for (const listener of [...this.#listeners]) {
            if (!this.#listeners.has(listener)) continue;
            const wants = listener.patterns.some((pattern) => matches(pattern, message.event));
            if (!wants && !(isAboutDropped && listener.hearsOfDropped)) continue;
            try {
                listener.deliver(event);
            } catch (error) {
                this.#onProblem(error);
            }
        }
    }

    close() {
        this.#listeners.clear();
        for (const queue of [...this.#queues]) queue.end();
    }
}

function matches(pattern, name) {
    return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

// The tasks that this end provides, and the calls of them that run. Each call is answered exactly once, in the session
// in which it came: an answer for a session that is gone is dropped, because another session may use the same id.


/** Calls that run at once; beyond, callers are told to come back. */
const mostRunning = 1024;

class Provider {
    #calls;
    #outbox;
    #repeat;
    #onProblem;
    #tasks = new Map();
    #running = new Map();
    #oneWay = new Set();

    /** @param repeat calls a task of the daemon's until it is answered, whatever happens to connections meanwhile */
    constructor(calls, outbox, repeat, onProblem) {
        this.#calls = calls;
        this.#outbox = outbox;
        this.#repeat = repeat;
        this.#onProblem = onProblem;
    }

    async register(task, handler, { scope = "any" } = {}) {
        if (typeof handler !== "function") throw new BridgeError("options.invalid", "a task needs a handler");
        const entry = { handler, scope, isConfirmed: false };
        const earlier = this.#tasks.get(task);
        // Before the daemon knows: the first call may come with the callback.
        this.#tasks.set(task, entry);
        try {
            await this.#repeat("bridge.register", { tasks: [task], scope });
            entry.isConfirmed = true;
        } catch (error) {
            if (this.#tasks.get(task) === entry) earlier ? this.#tasks.set(task, earlier) : this.#tasks.delete(task);
            throw error;
        }
    }

    async unregister(task) {
        const entry = this.#tasks.get(task);
        if (entry) entry.isConfirmed = false;
        await this.#repeat("bridge.unregister", { tasks: [task] });
        if (this.#tasks.get(task) === entry) this.#tasks.delete(task);
    }

    /** A new session knows nothing of the tasks. */
    restore() {
        for (const [task, entry] of this.#tasks) {
            if (!entry.isConfirmed) continue;
            const options = { tasks: [task], scope: entry.scope };
            this.#calls.begin("bridge.register", options, { isInSession: true }).promise.catch((error) => {
                // A lost connection is restored anew.
                if (error.code !== "session.closed") this.#onProblem(error);
            });
        }
    }

    // Calls that come.

    receive(message) {
        const id = message.callbackId;
        const call = {
            id, task: message.task, wantsProgress: message.progress === true && id !== undefined,
            sequence: 0, hasEnded: false, abort: new AbortController(),
        };
        if (this.#running.has(id)) {
            return this.#onProblem(new BridgeError("call.duplicate", `the call ${id} came twice`));
        }
        const entry = this.#tasks.get(message.task);
        if (!entry) {
            const reason = `this client provides no task ${message.task}`;
            return this.#answer(call, new BridgeError("task.not_found", reason));
        }
        if (this.#running.size + this.#oneWay.size >= mostRunning) {
            return this.#answer(call, new BridgeError(
                "busy", `this client works on ${mostRunning} calls, as many as it does at once`,
                { transient: true, retryAfter: 1000 }));
        }
        if (id === undefined) this.#oneWay.add(call);
        else this.#running.set(id, call);
        this.#run(call, entry.handler, message);
    }

    #run(call, handler, message) {
        const context = {
            task: call.task,
            caller: message.caller,
            timeoutMs: message.timeout,
            wantsProgress: call.wantsProgress,
            isOneWay: call.id === undefined,
            signal: call.abort.signal,
            progress: (value) => this.#report(call, value),
        };
        const options = message.options === undefined ? {} : message.options;
        // A handler that throws at once is a handler that rejects.
        new Promise((resolve) => resolve(handler(options, context))).then(
            (result) => this.#answer(call, undefined, result),
            (thrown) => this.#answer(call, this.#errorOf(call, thrown)));
    }

    #errorOf(call, thrown) {
        if (thrown instanceof BridgeError) return thrown;
        if (call.abort.signal.aborted && (thrown === call.abort.signal.reason || thrown?.name === "AbortError")) {
            return new BridgeError("call.cancelled", "the call was cancelled", { data: { started: true } });
        }
        return new BridgeError("internal", `${call.task} failed: ${describe(thrown)}`);
    }

    #report(call, value) {
        if (!call.wantsProgress || call.hasEnded) return false;
        const text = progressText(call.id, encodeValue(value, "internal", "the progress"), call.sequence);
        // Intermediate results may be missing; nobody has to wait for them.
        if (isLonger(text, this.#calls.messageBytes) || !this.#outbox.hasRoom(byteLength(text))) return false;
        call.sequence += 1;
        this.#send(text);
        return true;
    }

    /** The only place where a call is answered. */
    #answer(call, error, result) {
        if (call.hasEnded) return;
        call.hasEnded = true;
        if (call.id === undefined) {
            this.#oneWay.delete(call);
            if (error) this.#onProblem(error);
            return;
        }
        if (this.#running.get(call.id) === call) this.#running.delete(call.id);
        this.#send(this.#answerText(call, error, result));
    }

    #answerText(call, error, result) {
        try {
            const text = error ? errorText(call.id, error) : resultText(call.id, this.#resultText(call, result));
            if (!isLonger(text, this.#calls.messageBytes)) return text;
            const reason = `the answer of ${call.task} is longer than a message may be`;
            return errorText(call.id, new BridgeError("result.too_large", reason));
        } catch (problem) {
            return errorText(call.id, new BridgeError("reply.invalid", problem.message));
        }
    }

    #resultText(call, result) {
        return encodeValue(result === undefined ? null : result, "reply.invalid", `the result of ${call.task}`);
    }

    #send(text) {
        this.#outbox.sendInSession({ bytes: byteLength(text), take: () => text });
    }

    /** The caller waits no more. The call still gets its one answer, which the daemon drops. */
    cancel(id) {
        this.#running.get(id)?.abort.abort();
    }

    /** The session in which calls came is gone: handlers are told, and their answers go nowhere. */
    sessionLost() {
        const calls = [...this.#running.values()];
        this.#running.clear();
        for (const call of calls) {
            call.hasEnded = true;
            call.abort.abort();
        }
    }
}

// Calls that may be made more than once: where nothing was done, or where the program says that doing it twice does no
// harm, and the error says that it may go better later. Each attempt is a call of its own; to the program they are one.


class RepeatedCalls {
    #calls;
    #timers;
    #pausing = new Set();

    constructor(calls, timers) {
        this.#calls = calls;
        this.#timers = timers;
    }

    /** As Calls.begin, with `attempts` and `idempotent` among the settings. */
    begin(task, options, settings) {
        const { attempts = 1, idempotent = false, timeout } = settings;
        if (attempts === 1) return this.#calls.begin(task, options, settings);
        if (!(Number.isSafeInteger(attempts) && attempts > 0)) {
            const reason = "the attempts of a call are an integer above 0";
            const error = new BridgeError("options.invalid", reason, { data: { started: false } });
            return { promise: Promise.reject(error), cancel: () => {} };
        }
        const call = { task, options, settings, attemptsLeft: attempts, idempotent, cancel: undefined };
        // A timeout that makes no sense is found out by the first attempt.
        call.deadline = typeof timeout === "number" ? this.#timers.now() + timeout : undefined;
        return { promise: this.#run(call), cancel: () => call.cancel?.() };
    }

    async #run(call) {
        const backoff = new Backoff();
        let timeout = call.settings.timeout;
        for (;;) {
            const { promise, cancel } = this.#calls.begin(call.task, call.options, { ...call.settings, timeout });
            call.cancel = cancel;
            call.attemptsLeft -= 1;
            try {
                return await promise;
            } catch (error) {
                const pauseMs = error.retryAfter ?? backoff.next();
                if (call.deadline !== undefined) timeout = call.deadline - this.#timers.now() - pauseMs;
                const hasTime = call.deadline === undefined || timeout > 0;
                if (call.attemptsLeft === 0 || !hasTime || !mayRepeat(error, call.idempotent)) throw error;
                if (!await this.#pause(call, pauseMs)) throw error;
            }
        }
    }

    /** Resolves with whether the pause came to its end. */
    #pause(call, pauseMs) {
        return new Promise((resolve) => {
            const { signal } = call.settings;
            const end = (isOver) => {
                timer.cancel();
                this.#pausing.delete(end);
                signal?.removeEventListener("abort", stop);
                resolve(isOver);
            };
            const stop = () => end(false);
            const timer = this.#timers.after(pauseMs, () => end(true));
            this.#pausing.add(end);
            call.cancel = stop;
            signal?.addEventListener("abort", stop, { once: true });
            if (signal?.aborted || this.#calls.hasEnded) stop();
        });
    }

    /** No call is made again: those that pause end with the error of their last attempt. */
    close() {
        for (const end of [...this.#pausing]) end(false);
    }
}

/** Whether the same call may go better, and does no harm. */
function mayRepeat(error, idempotent) {
    // Where a limit is reached nothing has been begun.
    return error.transient && (idempotent || error.started === false || error.code === "busy");
}

// Timers that can be longer than the platform's, can be let go of all at once, and come from a clock that a test may
// replace. A clock has `now()` in milliseconds (monotonic), `setTimeout` and `clearTimeout`.

/** The longest delay that setTimeout takes; beyond, it fires at once. */
const longestDelayMs = 2 ** 31 - 1;

const systemClock = {
    now: () => globalThis.performance.now(),
    setTimeout: (action, delayMs) => globalThis.setTimeout(action, delayMs),
    clearTimeout: (handle) => globalThis.clearTimeout(handle),
};

class Timers {
    #clock;
    #running = new Set();
    #keepsAlive = true;

    constructor(clock = systemClock) {
        this.#clock = clock;
    }

    /** Milliseconds of a clock that only goes forward. */
    now() {
        return this.#clock.now();
    }

    /** Runs the action once after the delay, unless it is cancelled before. */
    after(delayMs, action) {
        const timer = { handle: undefined, cancel: () => this.#cancel(timer) };
        const due = this.now() + delayMs;
        const arm = () => {
            const leftMs = Math.max(0, due - this.now());
            timer.handle = this.#clock.setTimeout(
                () => {
                    if (due - this.now() > 1) return arm();
                    this.#running.delete(timer);
                    action();
                },
                Math.min(leftMs, longestDelayMs));
            // Browsers' handles are numbers, and keep nothing alive.
            if (!this.#keepsAlive) timer.handle?.unref?.();
        };
        this.#running.add(timer);
        arm();
        return timer;
    }

    /** Whether timers, those that run too, keep a Node process alive. */
    keepAlive(keeps) {
        this.#keepsAlive = keeps;
        for (const timer of this.#running) keeps ? timer.handle?.ref?.() : timer.handle?.unref?.();
    }

    #cancel(timer) {
        if (this.#running.delete(timer)) this.#clock.clearTimeout(timer.handle);
    }
}

// What a program holds: one bridge, over whatever carries its messages. It ties calls, provided tasks and
// subscriptions, which live as long as the bridge, to the connections, which come and go.


const defaults = {
    hello: {},
    waitMs: 60_000,
    maxWaitingCalls: 1024,
    maxWaitingBytes: 4 << 20,
    graceMs: 2_000,
    connectTimeoutMs: 10_000,
    maxQueuedBytes: 4 << 20,
};

class Bridge {
    #timers;
    #outbox;
    #calls;
    #repeatedCalls;
    #provider;
    #subscriptions;
    #connection;
    #stateListeners = new Set();
    #problemListeners = new Set();

    /**
     * Nothing is opened before the first use. The options are documented with the types, in types/trestle-bridge.d.ts.
     */
    constructor(options = {}) {
        const settings = { ...defaults, ...options };
        const problem = (error) => this.#problem(error);
        const repeat = (task, taskOptions) => this.#repeat(task, taskOptions);
        this.#timers = new Timers(options.clock);
        this.#outbox = new Outbox(settings.maxQueuedBytes, problem);
        this.#calls = new Calls(this.#outbox, this.#timers, {
            graceMs: settings.graceMs,
            waitMs: settings.waitMs,
            maxWaitingCalls: settings.maxWaitingCalls,
            maxWaitingBytes: settings.maxWaitingBytes,
            onWaiting: () => this.#connection.start(),
            onShuttingDown: () => this.#drain(),
        }, problem);
        this.#repeatedCalls = new RepeatedCalls(this.#calls, this.#timers);
        this.#provider = new Provider(this.#calls, this.#outbox, repeat, problem);
        this.#subscriptions = new Subscriptions(this.#calls, repeat, problem);
        this.#connection = new Connection({
            makeCarrier: () => (options.makeCarrier ? options.makeCarrier() : chooseCarrier(options)),
            settings, timers: this.#timers, outbox: this.#outbox,
            backoff: new Backoff(options.backoff),
            session: this.#session(settings),
        });
    }

    /** What the connection tells. */
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
                this.#calls.receiveUnreadable(id, "result.too_large", "the callback is longer than this client reads");
            },
            lost: (error) => {
                this.#provider.sessionLost();
                this.#calls.connectionLost(error);
            },
            closed: (error) => {
                this.#calls.close(error);
                this.#calls.abandon();
                this.#repeatedCalls.close();
                this.#provider.sessionLost();
                this.#subscriptions.close();
            },
            changed: (change) => this.#tell(this.#stateListeners, change),
            problem: (error) => this.#problem(error),
        };
    }

    #learn(hello) {
        const messageBytes = hello?.limits?.messageBytes;
        if (Number.isSafeInteger(messageBytes) && messageBytes > 0) this.#calls.messageBytes = messageBytes;
    }

    #receive(message) {
        if (!isObject(message)) return this.#problem(new BridgeError("message.invalid", "what came is no message"));
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

    /** The daemon begins no more calls. Returns whether they wait for the next one. */
    #drain() {
        const mayWait = this.#connection.drain();
        if (mayWait) this.#calls.hold();
        return mayWait;
    }

    /** For calls that may be made twice: until one is answered, over as many connections as it takes. */
    async #repeat(task, options) {
        for (;;) {
            const { lossCount } = this.#calls;
            try {
                return await this.#calls.begin(task, options).promise;
            } catch (error) {
                // A container may answer with session.closed as well; asking it again at once would have no end.
                const wasLost = error.code === "session.closed" && this.#calls.lossCount > lossCount;
                if (!wasLost || this.#calls.hasEnded) throw error;
            }
        }
    }

    // Calls.

    call(task, options, third, fourth) {
        if (typeof options === "function") return this.call(task, undefined, options, third);
        if (typeof third !== "function") return this.#repeatedCalls.begin(task, options, callSettings(third)).promise;
        const { promise, cancel } = this.#repeatedCalls.begin(task, options, callSettings(fourth));
        const callback = third;
        promise.then((result) => callback(result, null), (error) => callback(undefined, error))
            .catch((error) => this.#problem(error));
        return { cancel: () => cancel() };
    }

    async *pages(task, options, settings) {
        let wanted = { ...options };
        while (true) {
            const page = await this.call(task, wanted, settings);
            yield page;
            // A page that ends where the one before ended would never come to an end.
            if (page.cursor === undefined || page.cursor === wanted.cursor) return;
            wanted = { ...wanted, cursor: page.cursor };
        }
    }

    send(task, options, { session } = {}) {
        const { promise } = this.#calls.begin(task, options, { session, isOneWay: true });
        // Nobody has to look at what becomes of it.
        promise.catch(() => {});
        return promise;
    }

    // Tasks of this end.

    register(task, handler, settings) {
        return this.#provider.register(task, handler, settings);
    }

    unregister(task) {
        return this.#provider.unregister(task);
    }

    // Events.

    subscribe(patterns, listener) {
        return this.#subscriptions.subscribe(patterns, listener);
    }

    events(patterns, settings) {
        return this.#subscriptions.events(patterns, settings);
    }

    async publish(event, data, { retain } = {}) {
        // What is undefined has no JSON, and so is left out.
        await this.call("bridge.publish", { event, data, retain: retain ? true : undefined });
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
        this.#stateListeners.add(listener);
        return () => this.#stateListeners.delete(listener);
    }

    onProblem(listener) {
        this.#problemListeners.add(listener);
        return () => this.#problemListeners.delete(listener);
    }

    // For containers.

    receive(message) {
        this.#connection.receive(message);
    }

    sessionLost() {
        this.#connection.renew();
    }

    // Those who listen to the bridge itself.

    #tell(listeners, value) {
        for (const listener of [...listeners]) {
            try {
                listener(value);
            } catch (error) {
                this.#problem(error);
            }
        }
    }

    /** What concerns no call: it is told, or else written to the console. It never stops the library. */
    #problem(error) {
        if (this.#problemListeners.size === 0) {
            globalThis.console?.error?.(`trestle-bridge: ${error?.code ? `${error.code}: ` : ""}${describe(error)}`);
            return;
        }
        for (const listener of [...this.#problemListeners]) {
            try {
                listener(error);
            } catch (thrown) {
                globalThis.console?.error?.(`trestle-bridge: a listener to problems failed: ${describe(thrown)}`);
            }
        }
    }
}

/** Only what is for programs: the other settings are the library's own. */
function callSettings({ signal, timeout, onProgress, session, attempts, idempotent } = {}) {
    return { signal, timeout, onProgress, session, attempts, idempotent };
}

// The one bridge of a page, under the global name by which its container calls it.


/** The page's bridge; made, where the page has not loaded the library already. */
function sharedBridge() {
    // Two bridges would number their calls alike, and only one of them would hear the container.
    if (typeof globalThis.WebBridge?.receive !== "function") globalThis.WebBridge = new Bridge();
    return globalThis.WebBridge;
}

// Opening a bridge and knowing that it is open.


/**
 * Opens a bridge; rejects where the first attempt fails, and leaves nothing behind then. In a web view, where no
 * carrier is named, it is the page's bridge: the container knows only that one.
 */
async function connect(options = {}) {
    const isNamed = ["handler", "port", "window", "socket", "makeCarrier"].some((name) => options[name] !== undefined);
    const bridge = !isNamed && webViewHandler() ? sharedBridge() : new Bridge(options);
    try {
        await bridge.open();
    } catch (error) {
        await bridge.close();
        throw error;
    }
    return bridge;
}

// The library as a plain script: the page's bridge, and beside it what a module exports.


sharedBridge();
globalThis.TrestleBridge = { Bridge, BridgeError, connect };

})();
