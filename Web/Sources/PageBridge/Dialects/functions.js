// Answers that name a function of the page in callback or callbackFunction: the function is called with the result.
shim.takers.push((message) => {
    const name = message.callback ?? message.callbackFunction;
    if (name === undefined) return false;
    const call = shim.named(name);
    if (!call) console.warn(`the page has no function ${name} for an answer`);
    else if (message.error) call(null, message.error);
    else if (!("progress" in message)) call(message.result);
    return true;
});
