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
        // A load that ended since may have given the view its own address.
        let address = awaited.isStarting ? awaited.address : view.uri
        // A load that began again has started for its clients.
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

    /// The address that the engine does not load, and shows `about:blank` in place of: it reports no failure then.
    private var replacedAddress: String? {
        guard view.uri == Self.blank, let startedURI, startedURI != Self.blank, !startedURI.isEmpty else { return nil }
        return startedURI
    }

    static let blank = "about:blank"

    /// Takes a step of the error page, which is not published. With the start of the next load it has gone.
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
        errorPage = .none
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
