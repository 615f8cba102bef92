// Capacitor: its native-bridge.js posts to webkit.messageHandlers.bridge, and gets answers by Capacitor.fromNative.
{
    shim.takers.push((message) => {
        if (!("pluginId" in message) || !("save" in message)) return false;
        globalThis.Capacitor?.fromNative?.(message);
        return true;
    });
    // While it is loaded it asks its container by prompt whether cookies and requests go through plugins: they do not.
    const prompt = globalThis.prompt.bind(globalThis);
    globalThis.prompt = (text, ...rest) => {
        if (/^\{"type":"Capacitor(Cookies|Http)/.test(String(text))) return "false";
        return prompt(text, ...rest);
    };
}
