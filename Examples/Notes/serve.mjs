// serve.mjs: serves the page for a plain browser, to try it out. It opens one connection to the daemon for each tab,
// which carries the tab's messages. It listens on the loopback address only, and accepts messages only with the token.
// The holder of the token has the rights of the user that runs this program.
//
//   node serve.mjs --socket /run/user/1000/trestle/bridge.sock [--port 8091]

import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import net from "node:net";
import { parseArgs } from "node:util";
import { fileURLToPath, pathToFileURL } from "node:url";

import { buildClassicScript } from "../../Clients/JavaScript/scripts/build-classic.mjs";

const files = {
    "/": ["index.html", "text/html"],
    "/page.css": ["page.css", "text/css"],
    "/icon.svg": ["icon.svg", "image/svg+xml"],
    "/page.js": ["page.js", "text/javascript"],
    "/notes.js": ["notes.js", "text/javascript"],
    "/carrier.js": ["carrier.js", "text/javascript"],
};
/** More than the daemon accepts as one message, so that the daemon reports the error. */
const maxBody = 4 << 20;

/**
 * Serves the page.
 * @param settings `socket`: the daemon's; `port`: 0 for a free one; `scripts`: further scripts, name by path
 * @returns its address, and the function that stops it
 */
export async function serve({ socket, port = 8091, scripts = {} }) {
    const token = randomBytes(24).toString("base64url");
    const connections = new Map();
    const routes = { ...files, "/trestle-bridge.js": [pathToFileURL(buildClassicScript()), "text/javascript"] };
    for (const [path, file] of Object.entries(scripts)) routes[path] = [file, "text/javascript"];
    let address;
    let isAway = false;

    const server = createServer((request, response) => {
        answer(request, response).catch(() => (response.headersSent ? response.destroy() : refuse(response, 400)));
    });

    async function answer(request, response) {
        const url = new URL(request.url, address);
        // A page of another site could come here under another name of this machine.
        if (`http://${request.headers.host}` !== address) refuse(response, 403);
        else if (url.pathname === "/events") await events(url, response);
        else if (url.pathname === "/send" && request.method === "POST") await send(request, url, response);
        else await hand(routes[url.pathname], response);
    }

    async function hand(route, response) {
        if (!route) return refuse(response, 404);
        const [file, type] = route;
        let text = await readFile(new URL(file, import.meta.url), "utf8");
        // First the library, then its carrier, then its users.
        const extra = ["/carrier.js", ...Object.keys(scripts)].map((path) => `<script src="${path}"></script>`).join("\n");
        if (type === "text/html") text = text.replace('<script type="module"', `${extra}\n$&`);
        response.writeHead(200, {
            "content-type": `${type}; charset=utf-8`, "cache-control": "no-store", "referrer-policy": "no-referrer",
            "content-security-policy": "default-src 'self'; frame-ancestors 'none'", "x-content-type-options": "nosniff",
        });
        response.end(text);
    }

    /** Opens a connection for a tab, and sends its messages to the tab. If either ends, both end. */
    async function events(url, response) {
        if (!isToken(url.searchParams.get("token"), token)) return refuse(response, 403);
        const connection = net.connect({ path: socket });
        try {
            await once(connection, "connect");
        } catch (error) {
            if (!isAway) console.error(`There is no daemon at ${socket} (${error.message}). Pages wait for it.`);
            isAway = true;
            return refuse(response, 503);
        }
        isAway = false;
        if (response.destroyed) return connection.destroy();
        const id = randomBytes(12).toString("base64url");
        connections.set(id, connection);
        response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
        // Before any message of the page: the origin that the session represents.
        connection.write(`${JSON.stringify({ task: "bridge.hello", callbackId: id, options: { origin: address } })}\n`);
        response.write(`event: connection\ndata: ${id}\n\n`);
        const hello = `{"callbackId":"${id}"`;
        let rest = "";
        connection.setEncoding("utf8").on("data", (text) => {
            const lines = (rest + text).split("\n");
            rest = lines.pop();
            // The page did not request the hello, so its answer is dropped. A carriage return can only be white space
            // in JSON, but ends a line in an event stream.
            const wanted = lines.filter((line) => !line.startsWith(hello))
                .map((line) => `data: ${line.replaceAll("\r", " ")}\n\n`);
            if (wanted.length === 0 || response.write(wanted.join(""))) return;
            connection.pause();
            response.once("drain", () => connection.resume());
        });
        connection.on("error", () => {});
        connection.on("close", () => {
            connections.delete(id);
            response.end();
        });
        response.on("close", () => connection.destroy());
    }

    async function send(request, url, response) {
        if (!isToken(request.headers.authorization?.replace(/^Bearer /, ""), token)) return refuse(response, 403);
        const connection = connections.get(url.searchParams.get("connection"));
        if (!connection) return refuse(response, 410);
        const pieces = [];
        let length = 0;
        for await (const piece of request) {
            length += piece.length;
            if (length > maxBody) return refuse(response, 413);
            pieces.push(piece);
        }
        // The answer to a tab that writes faster than the daemon reads is delayed.
        connection.write(Buffer.concat([...pieces, Buffer.from("\n")]), (error) => {
            response.writeHead(error ? 410 : 204).end();
        });
    }

    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    address = `http://127.0.0.1:${server.address().port}`;
    return {
        address, url: `${address}/#${token}`,
        close() {
            server.close();
            server.closeAllConnections();
            for (const connection of connections.values()) connection.destroy();
        },
    };
}

function isToken(given, token) {
    const [one, other] = [Buffer.from(given ?? ""), Buffer.from(token)];
    return one.length === other.length && timingSafeEqual(one, other);
}

function refuse(response, status) {
    response.writeHead(status, { "content-type": "text/plain" }).end(`${status}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const { values } = parseArgs({ options: { socket: { type: "string" }, port: { type: "string" } } });
    const socket = values.socket ?? process.env.TRESTLE_SOCKET;
    if (!socket) {
        console.error("Name the daemon's socket: node serve.mjs --socket PATH [--port NUMBER], or in TRESTLE_SOCKET.");
        process.exit(64);
    }
    const { url } = await serve({ socket, port: values.port === undefined ? undefined : Number(values.port) });
    console.log(`Open ${url}`);
}
