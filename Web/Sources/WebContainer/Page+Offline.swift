internal import BridgeJSON
internal import PageBridge
internal import WebKitViews
internal import WebProfiles

/// The replacements of documents that cannot be loaded: their last copy, the profile's page, the error page.
extension Page {
    /// Keeps a copy of the document if the profile requests it and the document's server does not forbid it.
    func keep() {
        guard let container, container.settings.keepsPages, errorPage == .none, view.mayBeKept,
            let uri = view.uri, case .web? = PageOrigin(ofURI: uri)
        else { return }
        let (view, world, document) = (view, container.world, bridge.documentNumber)
        Task { [weak self] in
            let script = "const limit = \(KeptPages.maximumPageBytes);\n\(Self.keepScript)"
            guard let text = try? await view.evaluate(script, world: world), let json = try? JSON(parsing: text),
                let html = json["text"]?.stringValue, let time = json["time"]?.stringValue
            else { return }
            self?.keep(KeptPage(uri: KeptPages.key(uri), html: html, time: time), of: document)
        }
    }

    private static let keepScript = String(decoding: PackageResources.keep_js, as: UTF8.self)

    private func keep(_ page: KeptPage, of document: Int) {
        // Another document may have arrived meanwhile, and this may be its text.
        guard let container, bridge.documentNumber == document, errorPage == .none,
            view.uri.map(KeptPages.key) == page.uri, container.kept.keep(page)
        else { return }
        let bytes = JSON.number(JSONNumber(Int64(page.html.utf8.count)))
        publish("web.kept", ["uri": .string(page.uri), "bytes": bytes])
    }

    /// Shows a replacement of a document.
    func replace(_ failure: LoadFailure) {
        guard failure.isOfNetwork, let container else {
            return showError("This page cannot be shown", failure.message, failure.uri)
        }
        if let page = container.kept[failure.uri] {
            show(ErrorPage.kept(page, failure.uri), inPlaceOf: failure.uri)
        } else if let offline = container.settings.offlinePage {
            failedURI = failure.uri
            let address = container.parameters.removed(from: failure.uri)
            view.load("\(offline)?uri=\(Parameters.escaped(address))")
        } else {
            showError("This page cannot be shown", failure.message, failure.uri)
        }
    }

    /// Shows the error page in place of a document.
    func showError(_ title: String, _ message: String, _ uri: String) {
        show(ErrorPage.text(title, message, uri), inPlaceOf: uri)
    }

    /// Notes that the error page is the view's document, or that its load was ended. Loads that wait for it begin.
    func errorPageLoaded() {
        errorPage = .shown
        waiters.errorPageLoaded()
    }

    private func show(_ html: String, inPlaceOf uri: String) {
        errorPage = .loading
        failedURI = uri
        view.show(html, inPlaceOf: uri)
    }
}

extension LoadFailure {
    /// Whether the server was not reached; false for a problem with its identity.
    fileprivate var isOfNetwork: Bool {
        guard case .web? = PageOrigin(ofURI: uri) else { return false }
        return domain != "tls" && domain != "refused"
    }
}
