// The carrier of a Unix socket in Node: one message per line in both directions.

import net from "node:net";

import { BridgeError, connectionLost, unreachable } from "../errors.js";
import { LineSplitter } from "./lineSplitter.js";
import { socketPath } from "./socketLocation.js";

/** @param options `socket`: the path; `maxLineBytes`: the longest line that is read */
export function openSocket({ socket: path = socketPath(), maxLineBytes = 64 << 20 }, events) {
    const socket = net.connect({ path });
    let failure;
    let isOpen = false;
    let isCorked = false;
    const splitter = new LineSplitter(maxLineBytes, (text) => events.message(text), (head) => {
        events.problem(new BridgeError("message.too_large", `a line came that is longer than ${maxLineBytes} bytes`));
        const id = /^\s*\{\s*"callbackId"\s*:\s*(\d+)\s*,\s*"(?:result|error)"/.exec(head)?.[1];
        if (id !== undefined) events.unreadable(Number(id));
    });
    socket.on("connect", () => {
        isOpen = true;
        events.opened();
    });
    socket.on("data", (piece) => splitter.push(piece));
    socket.on("drain", () => events.drained());
    socket.on("error", (error) => {
        failure = error;
    });
    socket.on("close", () => events.closed(isOpen ? lost(failure) : refused(path, failure)));
    return {
        write(text) {
            // What is written in one turn of the loop leaves in one system call.
            if (!isCorked) {
                isCorked = true;
                socket.cork();
                process.nextTick(() => {
                    isCorked = false;
                    socket.uncork();
                });
            }
            return socket.write(`${text}\n`);
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
        const message = `the socket ${path} may not be opened by this user: its owner, group and mode say by whom`;
        return new BridgeError("connection.denied", message, { data: { path }, cause: failure });
    }
    const error = unreachable(failure ? failure.message : "the connection ended", { path });
    error.cause = failure;
    return error;
}
