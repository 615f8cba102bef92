// The carrier of a Unix socket in Node: one message per line in both directions.

import net from "node:net";

import { BridgeError, connectionLost, unreachable } from "../errors.js";
import { LineSplitter } from "./lineSplitter.js";
import { socketPath } from "./socketLocation.js";

/** @param options `socket`: the path; `maxLineBytes`: the maximum length of a line that is read */
export function openSocket({ socket: path = socketPath(), maxLineBytes = 64 << 20 }, events) {
    const socket = net.connect({ path });
    let failure;
    let isOpen = false;
    const splitter = new LineSplitter(maxLineBytes, (text) => events.message(text), (head) => {
        events.problem(new BridgeError("message.too_large", `received a line of more than ${maxLineBytes} bytes`));
        const id = /^\s*\{\s*"callbackId"\s*:\s*(\d+)\s*,\s*"(?:result|error)"/.exec(head)?.[1];
        if (id !== undefined) events.unreadable(Number(id));
    });
    socket.on("connect", () => {
        isOpen = true;
        events.opened();
    });
    socket.on("data", (piece) => splitter.push(piece));
    socket.on("error", (error) => {
        failure = error;
    });
    socket.on("close", () => events.closed(isOpen ? lost(failure) : refused(path, failure)));
    return {
        /** Whether the socket accepts data. False as soon as Node has detected the end, which is before `closed`. */
        get canWrite() {
            return socket.writable;
        },
        /** Runs the action later in this turn, so that all messages of the turn are written in one system call. */
        gather(action) {
            process.nextTick(action);
        },
        write(text) {
            let isTaken = false;
            socket.write(`${text}\n`, (error) => {
                if (!isTaken && !error) events.drained();
            });
            // Node immediately writes what the kernel accepts. The rest waits in Node, which does not report partial
            // progress. Nothing more is written until all of it was written.
            isTaken = socket.writableLength === 0;
            return isTaken;
        },
        end() {
            socket.end();
        },
        destroy() {
            socket.destroy();
        },
        keepAlive(keeps) {
            keeps ? socket.ref() : socket.unref();
        },
    };
}

function lost(failure) {
    return connectionLost(failure ? failure.message : "it ended its output");
}

function refused(path, failure) {
    if (failure?.code === "EACCES" || failure?.code === "EPERM") {
        const message = `the socket ${path} may not be opened by this user: see its owner, group and mode`;
        return new BridgeError("connection.denied", message, { data: { path }, cause: failure });
    }
    const error = unreachable(failure ? failure.message : "the connection ended", { path });
    error.cause = failure;
    return error;
}
