internal import BridgeJSON
internal import PageBridge
public import WebKitViews

extension Page: WebViewDelegate {
    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, posted text: [UInt8], reply: consuming ScriptReply) { take(text, reply) }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, load step: LoadStep) {
        let uri: JSON = .string(view.uri ?? "")
        switch step {
        case .started:
            denied = nil
            container?.leavePackages(self)
            publish("web.navigation.started", ["uri": uri])
        case .redirected: publish("web.navigation.redirected", ["uri": uri])
        case .committed:
            leaveDocument(view.uri)
            publish("web.navigation.committed", ["uri": uri])
            waiters.committed()
        case .finished:
            publish("web.navigation.finished", ["uri": uri])
            waiters.finished()
            watch.loaded()
        }
    }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, failed failure: LoadFailure) {
        publish(
            "web.navigation.failed",
            [
                "uri": .string(failure.uri), "domain": .string(failure.domain),
                "code": failure.isCancelled ? "cancelled" : .number(JSONNumber(Int64(failure.number))),
                "message": .string(failure.message),
            ])
        if let denied { return waiters.end(denied) }
        guard !failure.isCancelled else { return waiters.end(.cancelled) }
        waiters.end(LoadProblem(failure))
        view.show(ErrorPage.text("This page cannot be shown", failure.message, failure.uri), inPlaceOf: failure.uri)
    }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, decide request: NavigationRequest) -> Bool {
        guard let rules = container?.settings.navigation else { return false }
        let decision = rules.decide(
            request.uri, isForNewWindow: request.isForNewWindow, isUserGesture: request.isUserGesture)
        switch decision {
        case .go: return true
        case .ignore: break
        case .external: Desktop.open(request.uri)
        case .refuse(let rule):
            denied = .denied(uri: request.uri, rule: rule)
            publish("web.navigation.denied", ["uri": .string(request.uri), "rule": .string(rule)])
        }
        return false
    }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, asks dialog: consuming ScriptDialog) { ask(dialog) }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, processEnded end: ProcessEnd) {
        leaveDocument(nil)
        waiters.end(.gone)
        watch.crashed(end.rawValue)
    }

    /// As `WebViewDelegate` says.
    public func webViewTitleChanged(_ view: WebView) {
        window.setTitle(view.title)
        describe()
        publish("web.title", ["title": .string(view.title)])
    }

    /// As `WebViewDelegate` says.
    public func webViewAddressChanged(_ view: WebView) {
        describe()
        publish("web.history", ["uri": .string(view.uri ?? "")])
    }

    /// As `WebViewDelegate` says.
    public func webViewProgressChanged(_ view: WebView) {}

    /// As `WebViewDelegate` says.
    public func webViewClosed(_ view: WebView) { close() }
}

/// The page that is shown where there is none.
enum ErrorPage {
    static func text(_ title: String, _ message: String, _ uri: String) -> String {
        """
        <!doctype html><meta charset="utf-8"><title>\(escaped(title))</title>
        <style>body { font: 1.2em sans-serif; margin: 20vh auto; max-width: 30em; }</style>
        <h1>\(escaped(title))</h1><p>\(escaped(message))</p><p><a href="\(escaped(uri))">Try again</a></p>
        """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
