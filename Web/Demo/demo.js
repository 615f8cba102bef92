// Each line of the page is a call and its answer.
"use strict";

function show(name, text, isFailed) {
    const item = document.createElement("li");
    item.className = isFailed ? "failed" : "";
    const code = document.createElement("code");
    code.textContent = text;
    item.append(`${name}: `, code);
    document.getElementById("list").append(item);
}

function call(task, options) {
    return new Promise((done) => {
        WebBridge.call(task, options, (result, error) => {
            show(task, error ? `${error.code}: ${error.message}` : JSON.stringify(result), Boolean(error));
            done(result);
        });
    });
}

async function run() {
    const hello = await call("Echo", { hello: location.origin });
    await call("login.status", {});
    show("confirm", confirm("Does the daemon ask for this page?") ? "agreed" : "declined", false);
    document.title = hello ? "trestle-web: done" : "trestle-web: failed";
}

run();
