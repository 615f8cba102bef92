internal import BridgeJSON
internal import PageBridge
public import WebKitViews

extension Page: WebViewDelegate {
    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, posted text: [UInt8], reply: consuming ScriptReply) {
        container?.posts.take(self, text, reply)
    }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, load step: LoadStep) {
        if errorPage != .none { return errorPage(step) }
        let uri: JSON = .string(view.uri ?? "")
        switch step {
        case .started:
            denied = nil
            container?.leavePackages(self)
            awaited.started()
            replaced = nil
            startedURI = view.uri
            titleWait = nil
            startTimer()
            publish("web.navigation.started", ["uri": uri])
        case .redirected: publish("web.navigation.redirected", ["uri": uri])
        case .committed:
            loadTimer.stop()
            replaced = replacedAddress
            startedURI = nil
            guard replaced == nil else { return leaveDocument(nil) }
            if view.uri != failedURI { failedURI = nil }
            watch.committed()
            leaveDocument(view.uri)
            publish("web.navigation.committed", ["uri": uri])
            if !awaited.isPending { waiters.committed() }
        case .finished:
            if let replaced { return fail(.refused(replaced)) }
            publish("web.navigation.finished", ["uri": uri])
            if !awaited.isPending { awaitTitle() }
            watch.expectContent()
        }
    }

    /// The address that the engine does not load, and shows `about:blank` in place of: it reports no failure then.
    private var replacedAddress: String? {
        guard view.uri == Self.blank, let startedURI, startedURI != Self.blank, !startedURI.isEmpty else { return nil }
        return startedURI
    }

    static let blank = "about:blank"

    /// The steps of the error page are nobody's business; with the next load it has gone.
    private func errorPage(_ step: LoadStep) {
        switch (step, errorPage) {
        case (.started, .shown):
            errorPage = .none
            webView(view, load: step)
        case (.committed, _): leaveDocument(nil)
        case (.finished, _): errorPage = .shown
        default: break
        }
    }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, failed failure: LoadFailure) { fail(failure) }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, decide request: NavigationRequest) -> Bool { decide(request) }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, decide response: DocumentResponse) -> Bool { decide(response) }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, asks dialog: consuming ScriptDialog) { ask(dialog) }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, processEnded end: ProcessEnd) {
        leaveDocument(nil)
        loadTimer.stop()
        awaited.end()
        waiters.end(.gone)
        watch.crashed(end.rawValue)
    }

    /// As `WebViewDelegate` says.
    public func webViewTitleChanged(_ view: WebView) {
        if windowTitle == nil { window.setTitle(view.title) }
        if !view.title.isEmpty { endTitleWait() }
        describe()
        publish("web.title", ["title": .string(view.title)])
    }

    /// As `WebViewDelegate` says.
    public func webViewAddressChanged(_ view: WebView) {
        settle()
        describe()
        publish("web.history", ["uri": .string(view.uri ?? ""), "kind": .string(historyKind())])
    }

    /// As `WebViewDelegate` says. An earlier load may have gone on when the address changed.
    public func webViewLoadingChanged(_ view: WebView) { settle() }

    /// As `WebViewDelegate` says.
    public func webViewProgressChanged(_ view: WebView) {
        let value = view.progress
        // The last one is published whenever it comes.
        guard errorPage == .none, value == 1 || progress.admits(at: watch.now) else { return }
        publish("web.progress", ["progress": JSONNumber(value).map { JSON.number($0) } ?? JSON.null])
    }

    /// As `WebViewDelegate` says.
    public func webViewClosed(_ view: WebView) { close() }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, mayUse kind: PermissionKind) -> Bool { isAllowed(kind) }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, authenticates question: consuming AuthenticationQuestion) {
        authenticate(question)
    }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, distrusts failure: CertificateFailure) { distrust(failure) }

    /// As `WebViewDelegate` says.
    public func webView(_ view: WebView, opens request: NavigationRequest) -> WebView? { open(request) }

    /// As `WebViewDelegate` says.
    public func webViewReadyToShow(_ view: WebView) { show() }

    /// As `WebViewDelegate` says.
    public func webViewMayDownload(_ view: WebView) -> Bool { container?.settings.downloads != nil }
}
