// Capacitor: its native-bridge.js posts to webkit.messageHandlers.bridge, and receives answers through
// Capacitor.fromNative.
{
    shim.takers.push((message) => {
        if (!("pluginId" in message) || !("save" in message)) return false;
        globalThis.Capacitor?.fromNative?.(message);
        return true;
    });
    // While it loads, it asks its container with prompt() whether cookies and requests use plugins: they do not.
    const prompt = globalThis.prompt.bind(globalThis);
    globalThis.prompt = (text, ...rest) => {
        if (/^\{"type":"Capacitor(Cookies|Http)/.test(String(text))) return "false";
        return prompt(text, ...rest);
    };
}
