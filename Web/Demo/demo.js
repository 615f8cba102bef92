// Each line of the page is a call of a task, and its answer.
"use strict";

const status = document.getElementById("status");

function show(name, text, isFailed = false) {
    const item = document.createElement("li");
    item.className = isFailed ? "failed" : "";
    const title = document.createElement("b");
    title.textContent = name;
    const code = document.createElement("code");
    code.textContent = text;
    item.append(title, code);
    document.getElementById("list").append(item);
}

/** The result of a call; it throws the error. */
function call(task, options) {
    return new Promise((done, failed) => {
        WebBridge.call(task, options, (result, error) => (error ? failed(error) : done(result)));
    });
}

/** A line for what `body` returns. */
async function line(name, body) {
    try {
        show(name, await body());
        return true;
    } catch (error) {
        show(name, `${error.code ?? error.name}: ${error.message}`, true);
        return false;
    }
}

/** The record of the page: how often it was shown. */
async function count() {
    const place = { table: "demo", key: "shown" };
    let times = 1;
    try {
        times = (await call("persistence.read", place)).record.times + 1;
        await call("persistence.update", { ...place, record: { times } });
    } catch (error) {
        if (error.code !== "record.not_found") throw error;
        await call("persistence.create", { ...place, record: { times } });
    }
    return times;
}

async function logIn() {
    const token = localStorage.getItem("token");
    const result = await call("login", token ? { token } : { user: "ada", password: "correct horse" });
    localStorage.setItem("token", result.token);
    return `${result.user}, by ${token ? "the token of the first time" : "name and password"}`;
}

async function visit() {
    const { status: code, body } = await call("http.fetch", { url: `${location.origin}/visit` });
    return `${code}: visit ${body.json.visits}; the cookie is HttpOnly`;
}

async function run() {
    let times = 0;
    const done = [
        await line("Whom the page speaks for", async () => (await call("Echo", { origin: self.origin })).origin),
        await line("login", logIn),
        await line("http.fetch with cookies", visit),
        await line("persistence", async () => {
            times = await count();
            return `shown ${times} ${times === 1 ? "time" : "times"}`;
        }),
    ];
    // The second time, the page is back from the kill of its process.
    const question = times === 1 ? "Shall the process of this page be killed?" : "The page is back. Well done?";
    await line("confirm()", async () => `${question} ${confirm(question) ? "OK" : "Cancel"}`);
    status.textContent = times > 1
        ? "The web process was killed, and the page is back."
        : "Next, its web process is killed.";
    document.title = done.every((good) => good) ? "trestle-web: done" : "trestle-web: failed";
    await fetch(`/shown?${document.title.split(" ")[1]}`);
}

run();
