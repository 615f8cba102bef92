internal import CWebKitGTK
internal import MainLoop

extension WebView {
    func connectSignals() {
        content.connect("script-message-with-reply-received::\(Self.handler)") { [weak self] arguments in
            self?.posted(arguments) ?? false
        }
        object.observe("load-changed") { [weak self] arguments in
            guard let self, let step = LoadStep(arguments.enumeration(1)) else { return }
            report(step)
        }
        object.connect("load-failed") { [weak self] arguments in
            guard let self, let error = arguments.boxed(3) else { return true }
            hasFailed = true
            delegate?.webView(self, failed: LoadFailure(error, uri: arguments.string(2)))
            return true
        }
        object.connect("decide-policy") { [weak self] in self?.decide($0) ?? false }
        object.connect("script-dialog") { [weak self] arguments in
            guard let self, let dialog = arguments.boxed(1) else { return false }
            ScriptDialog.isBeingAsked = true
            defer { ScriptDialog.isBeingAsked = false }
            delegate?.webView(self, asks: ScriptDialog(OpaquePointer(dialog)))
            return true
        }
        object.observe("web-process-terminated") { [weak self] arguments in
            guard let self else { return }
            delegate?.webView(self, processEnded: ProcessEnd(arguments.enumeration(1)))
        }
        object.observe("notify::title") { [weak self] _ in self.map { $0.delegate?.webViewTitleChanged($0) } }
        object.observe("notify::uri") { [weak self] _ in self.map { $0.delegate?.webViewAddressChanged($0) } }
        object.observe("notify::is-loading") { [weak self] _ in self.map { $0.delegate?.webViewLoadingChanged($0) } }
        object.observe("notify::estimated-load-progress") { [weak self] _ in
            self.map { $0.delegate?.webViewProgressChanged($0) }
        }
        object.observe("close") { [weak self] _ in self.map { $0.delegate?.webViewClosed($0) } }
    }

    /// Reports a step. A failed load has ended: the engine's `finished` after the failure is not reported.
    private func report(_ step: LoadStep) {
        let isEndOfFailed = step == .finished && hasFailed
        if step == .started || step == .finished { hasFailed = false }
        if !isEndOfFailed { delegate?.webView(self, load: step) }
    }

    private func posted(_ arguments: SignalArguments) -> Bool {
        guard let delegate, let value = arguments.object(1).map({ OpaquePointer($0) }),
            let reply = arguments.boxed(2), let context = jsc_value_get_context(value)
        else { return false }
        delegate.webView(
            self, posted: scriptText(value), reply: ScriptReply(reply: OpaquePointer(reply), context: context))
        return true
    }

    /// Decides about navigations, new windows and responses.
    private func decide(_ arguments: SignalArguments) -> Bool {
        guard let object = arguments.object(1) else { return false }
        let decision = object.assumingMemoryBound(to: WebKitPolicyDecision.self)
        guard trestle_is_navigation_policy_decision(object) != 0 else {
            decideResponse(OpaquePointer(object), decision)
            return true
        }
        let action = webkit_navigation_policy_decision_get_navigation_action(OpaquePointer(object))
        let request = NavigationRequest(
            action,
            isForNewWindow: arguments.enumeration(2) == WEBKIT_POLICY_DECISION_TYPE_NEW_WINDOW_ACTION.rawValue)
        if delegate?.webView(self, decide: request) ?? false {
            webkit_policy_decision_use(decision)
        } else {
            webkit_policy_decision_ignore(decision)
        }
        return true
    }

    /// Decides about a response: documents that the engine supports are shown, unless they are marked as files. Files
    /// are downloaded if downloads are allowed.
    private func decideResponse(_ response: OpaquePointer, _ decision: UnsafeMutablePointer<WebKitPolicyDecision>) {
        guard delegate?.webView(self, decide: DocumentResponse(response)) ?? false else {
            return webkit_policy_decision_ignore(decision)
        }
        let isShown =
            webkit_response_policy_decision_is_mime_type_supported(response) != 0
            && trestle_is_attachment(webkit_response_policy_decision_get_response(response)) == 0
        if isShown {
            webkit_policy_decision_use(decision)
        } else if delegate?.webViewMayDownload(self) ?? false {
            webkit_policy_decision_download(decision)
        } else {
            webkit_policy_decision_ignore(decision)
        }
    }
}

extension DocumentResponse {
    @MainActor
    fileprivate init(_ decision: OpaquePointer) {
        let response = webkit_response_policy_decision_get_response(decision)
        self.init(
            uri: webkit_uri_response_get_uri(response).map { String(cString: $0) } ?? "",
            type: webkit_uri_response_get_mime_type(response).map { String(cString: $0) } ?? "",
            status: Int(webkit_uri_response_get_status_code(response)),
            isForPage: webkit_response_policy_decision_is_main_frame_main_resource(decision) != 0)
    }
}

extension LoadStep {
    fileprivate init?(_ number: UInt32) {
        switch WebKitLoadEvent(number) {
        case WEBKIT_LOAD_STARTED: self = .started
        case WEBKIT_LOAD_REDIRECTED: self = .redirected
        case WEBKIT_LOAD_COMMITTED: self = .committed
        case WEBKIT_LOAD_FINISHED: self = .finished
        default: return nil
        }
    }
}

extension ProcessEnd {
    fileprivate init(_ number: UInt32) {
        switch WebKitWebProcessTerminationReason(number) {
        case WEBKIT_WEB_PROCESS_EXCEEDED_MEMORY_LIMIT: self = .exceededMemory
        case WEBKIT_WEB_PROCESS_TERMINATED_BY_API: self = .terminated
        default: self = .crashed
        }
    }
}

extension LoadFailure {
    /// Creates a failure from a GLib error.
    init(_ raw: UnsafeMutableRawPointer, uri: String) {
        let error = raw.assumingMemoryBound(to: GError.self).pointee
        let domain = g_quark_to_string(error.domain).map { String(cString: $0) } ?? ""
        self.init(
            uri: uri, domain: domain, number: Int(error.code),
            message: error.message.map { String(cString: $0) } ?? "",
            isCancelled: error.domain == webkit_network_error_quark()
                && error.code == Int32(WEBKIT_NETWORK_ERROR_CANCELLED.rawValue)
                || error.domain == webkit_policy_error_quark()
                    && error.code == Int32(WEBKIT_POLICY_ERROR_FRAME_LOAD_INTERRUPTED_BY_POLICY_CHANGE.rawValue)
        )
    }
}
