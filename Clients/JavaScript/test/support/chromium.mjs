// A headless Chromium, driven over a pipe with its DevTools protocol: JSON messages, each followed by NUL.

import { foundCommand, startProgram, within } from "./processes.mjs";

export const chromium = foundCommand(["chromium", "chromium-browser", "google-chrome"]);

/**
 * Starts Chromium and opens a page.
 * @param home a directory for all files of Chromium
 * @param binding the name of a function in the page, which passes a text to `onText`
 */
export async function startPage(t, { home, url, binding, onText }) {
    const waiting = new Map();
    let lastId = 0;
    let loaded;
    const log = [];
    const program = startProgram(t, chromium, [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", `--user-data-dir=${home}/profile`,
        // A frame of another origin gets its own process.
        "--site-per-process", "--remote-debugging-pipe",
    ], {
        env: {
            ...process.env,
            HOME: home, TMPDIR: home, XDG_RUNTIME_DIR: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home,
        },
        stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
        // Otherwise its processes could write into its directory while that is removed.
        ask: () => send("Browser.close"),
    });
    const [, , , commands, answers] = program.stdio;
    // Chromium may already have ended; `ended` reports this.
    commands.on("error", () => {});
    const report = () => `${log.join("\n")}\n${program.output}`;
    const ended = program.ended.then((code) => Promise.reject(new Error(`Chromium ended: ${code}. ${report()}`)));
    ended.catch(() => {});

    let rest = "";
    answers.setEncoding("utf8").on("data", (text) => {
        const messages = (rest + text).split("\0");
        rest = messages.pop();
        for (const message of messages) received(JSON.parse(message));
    });

    function received({ id, method, params, result, error }) {
        if (id !== undefined) {
            const { done, failed } = waiting.get(id);
            waiting.delete(id);
            if (error) failed(new Error(error.message));
            else done(result);
        } else if (method === "Runtime.bindingCalled" && params.name === binding) onText(params.payload);
        else if (method === "Page.loadEventFired") loaded();
        else if (method === "Runtime.consoleAPICalled") log.push(params.args.map(({ value }) => value).join(" "));
        else if (method === "Runtime.exceptionThrown") log.push(JSON.stringify(params.exceptionDetails));
    }

    function send(method, params = {}, sessionId = undefined) {
        lastId += 1;
        commands.write(`${JSON.stringify({ id: lastId, method, params, sessionId })}\0`);
        return new Promise((done, failed) => waiting.set(lastId, { done, failed }));
    }

    async function open() {
        const { targetId } = await send("Target.createTarget", { url: "about:blank" });
        const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
        const inPage = (method, params) => send(method, params, sessionId);
        await inPage("Runtime.enable");
        await inPage("Page.enable");
        await inPage("Runtime.addBinding", { name: binding });
        const isLoaded = new Promise((done) => {
            loaded = done;
        });
        await inPage("Page.navigate", { url });
        await isLoaded;
        // Ignores the value of the expression; an exception is logged.
        return (expression) => {
            inPage("Runtime.evaluate", { expression }).then(
                ({ exceptionDetails }) => exceptionDetails && log.push(JSON.stringify(exceptionDetails)),
                (error) => log.push(String(error)));
        };
    }

    return { evaluate: await within(Promise.race([open(), ended]), "a page in Chromium", report), ended, report };
}
