internal import BridgeJSON
internal import WebKitViews

extension Page {
    /// Decides about a navigation of a frame, and publishes an event if it is refused.
    func decide(_ request: NavigationRequest) -> Bool {
        guard let rules = container?.settings.navigation else { return false }
        let decision = rules.decide(
            request.uri, isForNewWindow: request.isForNewWindow, isUserGesture: request.isUserGesture)
        switch decision {
        case .go:
            if !request.isForNewWindow {
                awaited.decided(request.uri)
                // A load of the current fragment does not change the address.
                settle()
            }
            return true
        case .ignore: return false
        case .external: Desktop.open(request.uri)
        case .ask: askAboutBrowser(request.uri)
        case .refuse(let rule):
            denied = .denied(uri: request.uri, rule: rule)
            publish("web.navigation.denied", ["uri": .string(request.uri), "rule": .string(rule)])
        }
        if request.isForNewWindow { publishWindowRequest(request.uri, isAllowed: false) }
        return false
    }

    /// Decides about a response before a frame shows its document, and publishes an event if it is refused.
    func decide(_ response: DocumentResponse) -> Bool {
        guard let rules = container?.settings.navigation else { return false }
        guard let rule = rules.deny(response.uri, type: response.type, status: response.status) else { return true }
        if response.isForPage { denied = .denied(uri: response.uri, rule: rule) }
        publish("web.navigation.denied", ["uri": .string(response.uri), "rule": .string(rule)])
        return false
    }

    /// Opens an address in the desktop's browser if the user agrees.
    private func askAboutBrowser(_ uri: String) {
        let question = PanelQuestion(kind: "confirm", message: "Open \(uri) in the browser?", origin: origin)
        _ = ask(question) { answer in
            if case .accepted = answer { Desktop.open(uri) }
        }
    }

    /// Returns the view for a window that a page opens: a page of its own under the same rules; `nil` if it is refused.
    func open(_ request: NavigationRequest) -> WebView? {
        // The engine requests no decision about the navigation of window.open() first.
        guard decide(request) else { return nil }
        let page = container?.open(relatedTo: self)
        publishWindowRequest(request.uri, isAllowed: page != nil)
        return page?.view
    }

    private func publishWindowRequest(_ uri: String, isAllowed: Bool) {
        publish("web.window.requested", ["uri": .string(uri), "allowed": .bool(isAllowed)])
    }

    // MARK: Failures

    /// Starts the timer of a load with the profile's limit.
    func startTimer() {
        loadTimer.start { [weak self] in
            guard let self else { return }
            let failure = loadTimer.failure(view.uri ?? "")
            view.stop()
            fail(failure)
        }
    }

    /// Handles a failed load. The calls that wait for it fail, and the user sees a page that offers to try again.
    func fail(_ failure: LoadFailure) {
        guard !loadTimer.isEcho(failure), !isOfErrorPage(failure) else { return }
        loadTimer.stop()
        if denied == nil, !awaited.isBeforeDecision, retries.admits(failure) { return loadAgain(failure.uri) }
        retries.reset()
        if failure.uri == startedURI { startedURI = nil }
        publish(
            "web.navigation.failed",
            [
                "uri": .string(failure.uri), "domain": .string(failure.domain), "code": failure.code,
                "message": .string(failure.message),
            ])
        if let denied {
            awaited.end()
            return waiters.end(denied)
        }
        guard !failure.isCancelled else {
            // It is the load that a client's load has replaced.
            if !awaited.isPending, failure.uri != "about:blank" { waiters.end(.cancelled) }
            return
        }
        guard !awaited.isBeforeDecision else { return }
        awaited.end()
        waiters.end(LoadProblem(failure))
        replace(failure)
    }

    /// Whether a failure reports that another load replaced the error page, which then has no further steps.
    private func isOfErrorPage(_ failure: LoadFailure) -> Bool {
        guard failure.isCancelled else { return false }
        if errorPage == .loading {
            errorPageLoaded()
            return true
        }
        return failedURI != nil && [failedURI, "about:blank"].contains(failure.uri)
    }

    /// Restarts a load; its calls continue to wait.
    private func loadAgain(_ uri: String) {
        view.load(uri, headers: container?.parameters.headers(uri) ?? [])
    }

    /// Handles an untrusted certificate. If it was allowed, trusts it and loads the page again.
    func distrust(_ failure: CertificateFailure) {
        if let container, container.pins.isAllowed(failure) {
            container.engine.trust(failure)
            return loadAgain(failure.uri)
        }
        container?.pins.note(failure)
        publish(
            "web.tls.failed",
            [
                "uri": .string(failure.uri), "errors": .array(failure.errors.map { .string($0) }),
                "sha256": .string(failure.sha256),
            ])
        fail(
            LoadFailure(
                uri: failure.uri, domain: "tls", number: 0,
                message: "the certificate is not trusted: \(failure.errors.joined(separator: ", "))",
                isCancelled: false))
    }
}

extension LoadFailure {
    /// Returns the failure for an address that the engine does not load, such as one with the port of another service.
    static func refused(_ uri: String) -> LoadFailure {
        LoadFailure(
            uri: uri, domain: "refused", number: 0,
            message: "the engine does not load this address; check its port", isCancelled: false)
    }

    /// The code in events: `cancelled`, `timeout`, `untrusted`, `refused`, or the engine's number.
    var code: JSON {
        if isCancelled { return "cancelled" }
        switch domain {
        case "timeout": return "timeout"
        case "tls": return "untrusted"
        case "refused": return "refused"
        default: return .number(JSONNumber(Int64(number)))
        }
    }
}
