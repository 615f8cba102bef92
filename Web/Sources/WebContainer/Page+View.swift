internal import BridgeJSON
internal import PageBridge
public import WebKitViews

extension Page: WebViewDelegate {
    /// See `WebViewDelegate`.
    public func webView(_ view: WebView, posted text: [UInt8], reply: consuming ScriptReply) {
        container?.posts.take(self, text, reply)
    }

    /// See `WebViewDelegate`.
    public func webView(_ view: WebView, load step: LoadStep) {
        if errorPage != .none { return errorPage(step) }
        switch step {
        case .started: started()
        case .redirected: publish(step)
        case .committed: committed()
        case .finished:
            if let replaced { return fail(.refused(replaced)) }
            publish(step)
            if !awaited.isPending { awaitTitle() }
            watch.expectContent()
        }
    }

    private func started() {
        // A load that has ended since may have set the view's address.
        let address = awaited.isStarting ? awaited.address : view.uri
        // For its clients, a restarted load has already started.
        let isAgain = address == startedURI
        denied = nil
        container?.leavePackages(self)
        awaited.started()
        replaced = nil
        startedURI = address
        titleWait = nil
        startTimer()
        if !isAgain { publish(.started, address) }
    }

    private func committed() {
        loadTimer.stop()
        retries.reset()
        replaced = replacedAddress
        startedURI = nil
        guard replaced == nil else { return leaveDocument(nil) }
        if view.uri != failedURI { failedURI = nil }
        watch.committed()
        leaveDocument(view.uri)
        publish(.committed)
        if !awaited.isPending { waiters.committed() }
    }

    private func publish(_ step: LoadStep) { publish(step, view.uri) }

    private func publish(_ step: LoadStep, _ address: String?) {
        publish("web.navigation.\(step.rawValue)", ["uri": .string(address ?? "")])
    }

    /// The address that the engine does not load. It shows `about:blank` in its place and reports no failure. `nil` for
    /// none.
    private var replacedAddress: String? {
        guard view.uri == Self.blank, let startedURI, startedURI != Self.blank, !startedURI.isEmpty else { return nil }
        return startedURI
    }

    static let blank = "about:blank"

    /// Handles a step of the error page, which is not published. The start of the next load ends the error page.
    private func errorPage(_ step: LoadStep) {
        switch (step, errorPage) {
        case (.started, .shown):
            errorPage = .none
            webView(view, load: step)
        case (.committed, .loading):
            leaveDocument(nil)
            errorPageLoaded()
        default: break
        }
    }

    /// See `WebViewDelegate`.
    public func webView(_ view: WebView, failed failure: LoadFailure) { fail(failure) }

    /// See `WebViewDelegate`.
    public func webView(_ view: WebView, decide request: NavigationRequest) -> Bool { decide(request) }

    /// See `WebViewDelegate`.
    public func webView(_ view: WebView, decide response: DocumentResponse) -> Bool { decide(response) }

    /// See `WebViewDelegate`.
    public func webView(_ view: WebView, asks dialog: consuming ScriptDialog) { ask(dialog) }

    /// See `WebViewDelegate`.
    public func webView(_ view: WebView, processEnded end: ProcessEnd) {
        leaveDocument(nil)
        loadTimer.stop()
        errorPage = .none
        awaited.end()
        waiters.end(.gone)
        watch.crashed(end.rawValue)
    }

    /// See `WebViewDelegate`.
    public func webViewTitleChanged(_ view: WebView) {
        if windowTitle == nil { window.setTitle(view.title) }
        if !view.title.isEmpty { endTitleWait() }
        describe()
        publish("web.title", ["title": .string(view.title)])
    }

    /// See `WebViewDelegate`.
    public func webViewAddressChanged(_ view: WebView) {
        settle()
        describe()
        publish("web.history", ["uri": .string(view.uri ?? ""), "kind": .string(historyKind())])
    }

    /// See `WebViewDelegate`. An earlier load may still have been running when the address changed.
    public func webViewLoadingChanged(_ view: WebView) { settle() }

    /// See `WebViewDelegate`.
    public func webViewProgressChanged(_ view: WebView) {
        let value = view.progress
        // The last value is always published.
        guard errorPage == .none, value == 1 || progress.admits(at: watch.now) else { return }
        publish("web.progress", ["progress": JSONNumber(value).map { JSON.number($0) } ?? JSON.null])
    }

    /// See `WebViewDelegate`.
    public func webViewClosed(_ view: WebView) { close() }

    /// See `WebViewDelegate`.
    public func webView(_ view: WebView, mayUse kind: PermissionKind) -> Bool { isAllowed(kind) }

    /// See `WebViewDelegate`.
    public func webView(_ view: WebView, authenticates question: consuming AuthenticationQuestion) {
        authenticate(question)
    }

    /// See `WebViewDelegate`.
    public func webView(_ view: WebView, distrusts failure: CertificateFailure) { distrust(failure) }

    /// See `WebViewDelegate`.
    public func webView(_ view: WebView, opens request: NavigationRequest) -> WebView? { open(request) }

    /// See `WebViewDelegate`.
    public func webViewReadyToShow(_ view: WebView) { show() }

    /// See `WebViewDelegate`.
    public func webViewMayDownload(_ view: WebView) -> Bool { container?.settings.downloads != nil }
}
