// Successive connections: opens a carrier and sends bridge.hello. After a loss and a growing pause it opens the next
// carrier, if the kind of carrier permits it. Everything that outlives a connection (calls, registrations,
// subscriptions) belongs to the bridge, which is notified through the `session` callbacks.
//
// States: idle → connecting → open → (lost) → waiting → connecting …, and closed in the end.
//
// A carrier carries messages. Its interface:
//
//   open(events)      Begins. `events` has opened(), message(textOrValue), unreadable(id), drained(), problem(error),
//                     and closed(error?), which is called once, last.
//   write(text)       Always accepts one message. Returns false if the next one must wait for drained(). With gather,
//                     it accepts several messages, one per line.
//   canWrite          Optional: false if it accepts nothing more, although closed() has not been called yet.
//   gather(action)    Optional: runs the action later in this turn, so that one write sends all messages of the turn.
//   end()             Delivers what was written, then closes; closed() follows.
//   destroy()         Closes immediately. No further event follows.
//   keepAlive(keeps)  Sets whether it keeps a Node process alive.
//   canReopen         Whether another carrier of its kind may be opened after it.
//   awaitsHello       Whether calls wait for the answer to bridge.hello. False with a container, which may not have
//                     that task.

import { BridgeError, closedHere, connectionLost, unreachable } from "./errors.js";

/** The time for the daemon to close its end after this end was closed, in milliseconds. */
const closeTimeout = 1000;
/** The delay before calls that a stopping daemon refused are sent again over the same connection, in milliseconds. */
const resumeDelay = 1000;

export class Connection {
    state = "idle";
    /** The daemon's answer to bridge.hello; `undefined` if the daemon refused it or has not answered yet. */
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
    #limit = undefined;
    #retry = undefined;
    #resuming = undefined;
    #keepsAlive = true;
    /** The reason of the final end; set if the daemon closes the session on purpose, or this client closes. */
    #finalReason = undefined;
    /**
     * The reason of an end on purpose that the last message announced. The daemon sends nothing after it: if another
     * message arrives, the event came from someone else.
     */
    #announcedEnd = undefined;
    #isClosing = false;
    /** The last error that belongs to no call. If the connection ends before it is open, this is the reason. */
    #lastProblem = undefined;
    #openWaiters = [];
    #closeWaiters = [];

    /**
     * @param session the callbacks: `introduce()` → promise of hello, `opened(hello)`, `learned(hello)`,
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

    /** Begins to connect if it has not begun yet. */
    start() {
        if (this.state === "idle") this.#attempt();
    }

    /** Resolves when the connection is open. Rejects with the error of the current or next attempt. */
    opened() {
        this.start();
        if (this.state === "open") return Promise.resolve(this.hello);
        if (this.state === "closed") return Promise.reject(this.#finalReason ?? closedHere());
        return new Promise((resolve, reject) => this.#openWaiters.push({ resolve, reject }));
    }

    #attempt() {
        this.#lastProblem = undefined;
        this.#change("connecting");
        // A listener may have closed the bridge.
        if (this.state === "closed") return;
        let carrier;
        // Ignores events of a previous carrier.
        const current = (action) => (...values) => (carrier === this.#carrier ? action(...values) : undefined);
        try {
            carrier = this.#makeCarrier();
            this.#carrier = carrier;
            this.#limit = this.#timers.after(this.#settings.connectTimeout, () => {
                this.#lost(unreachable("the socket accepts connections, but the daemon does not answer"));
            });
            carrier.keepAlive(this.#keepsAlive);
            carrier.open({
                opened: current(() => this.#carrierOpened()),
                message: current((message) => this.receive(message)),
                unreadable: current((id) => {
                    this.#announcedEnd = undefined;
                    this.#session.unreadable(id);
                }),
                drained: current(() => this.#drained()),
                problem: current((error) => this.#session.problem(error)),
                closed: current((error) => this.#lost(error ?? connectionLost("it was closed"))),
            });
        } catch (error) {
            // Without a carrier there is nothing to retry.
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
        // A client that may not call bridge.hello may still make other calls. But a client that names an origin must
        // not continue without it.
        const mayGoOn = ["permission.denied", "task.not_found"].includes(error.code) && !this.#settings.hello.origin;
        if (mayGoOn) return this.#introduced(undefined);
        if (this.state === "open") return this.#session.problem(error);
        if (error.code === "options.invalid" || error.code === "permission.denied") this.#finalReason = error;
        this.#lost(error);
    }

    #open() {
        this.#limit?.cancel();
        this.#openedAt = this.#timers.now();
        this.#lastProblem = undefined;
        this.state = "open";
        this.#session.opened(this.hello);
        this.#outbox.isHeld = false;
        this.#outbox.flush();
        for (const waiter of this.#openWaiters.splice(0)) waiter.resolve(this.hello);
        this.#change("open", { hello: this.hello });
    }

    /** Receives one message, or an array of messages, as text or as a value. */
    receive(message) {
        this.#announcedEnd = undefined;
        let value = message;
        if (typeof message === "string") {
            try {
                value = JSON.parse(message);
            } catch (error) {
                const why = `the received message is not valid JSON: ${error.message}`;
                return this.#session.problem(new BridgeError("message.invalid", why));
            }
        }
        for (const item of Array.isArray(value) ? value : [value]) {
            if (this.state === "closed") return;
            this.#announcedEnd = undefined;
            const problem = item?.callbackId === null ? BridgeError.from(item.error) : undefined;
            // Before the connection is open, such an error can only concern the connection, which ends next.
            if (problem && this.state !== "open") this.#lastProblem = problem;
            else this.#session.message(item);
        }
    }

    /**
     * Holds calls while the daemon stops. Returns whether they may wait for the next daemon; if not, they are not held.
     */
    drain() {
        if (!this.#carrier?.canReopen || this.#finalReason || this.#isClosing) return false;
        this.#outbox.isHeld = true;
        // A daemon that passes its sessions to the next one keeps the connection and does not report when calls resume.
        this.#resuming ??= this.#timers.after(resumeDelay, () => this.#resume());
        return true;
    }

    #resume() {
        this.#resuming = undefined;
        this.#session.resumed();
        this.#outbox.isHeld = false;
        this.#outbox.flush();
    }

    /** Handles that the daemon announces the end of the session. If the connection ends next, no other one follows. */
    endsOnPurpose(reason) {
        this.#announcedEnd = reason;
        // With a container, this client does not see the end of the connection.
        if (this.#carrier && !this.#carrier.awaitsHello) this.#lost(reason);
    }

    /** Begins a new session over the same carrier, because the container has lost the previous one. */
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
        this.#limit?.cancel();
        this.#resuming?.cancel();
        this.#resuming = undefined;
        this.#outbox.detach();
        carrier?.destroy();
        this.#finalReason ??= this.#announcedEnd;
        if (this.#isClosing) return this.#finish(this.#finalReason);
        if (this.state === "open") this.#backoff.connectedFor(this.#timers.now() - this.#openedAt);
        // A connection that was never open was refused, not lost.
        const wasRefused = this.state === "connecting" && error.code === "session.closed";
        const reason = this.#finalReason ?? this.#lastProblem ?? (wasRefused ? unreachable(error.message) : error);
        this.hello = undefined;
        this.#session.lost(reason);
        // EAGAIN: the daemon's queue of new connections is full. The daemon is busy, so `opened()` continues to wait.
        if (reason.cause?.code !== "EAGAIN") {
            for (const waiter of this.#openWaiters.splice(0)) waiter.reject(reason);
        }
        // A listener may have closed the bridge meanwhile.
        if (this.#isClosing) return this.#finish(this.#finalReason);
        if (this.#finalReason || !carrier?.canReopen) return this.#finish(reason);
        const delay = this.#backoff.next();
        this.#retry = this.#timers.after(delay, () => this.#attempt());
        this.#change("waiting", { error: reason, delay });
    }

    // The end.

    /** Delivers the messages in the outbox, then closes. Resolves when it is closed, after one second at the latest. */
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
        this.#limit = this.#timers.after(closeTimeout, () => this.#lost(this.#finalReason));
        this.#outbox.write();
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
        this.#limit?.cancel();
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
