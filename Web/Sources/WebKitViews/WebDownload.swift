internal import CWebKitGTK
internal import MainLoop

/// A file that the engine downloads for a page.
@MainActor
public final class WebDownload {
    private let object: GObjectBox
    private var failure: EngineError?
    /// The path of the file; `nil` until it is decided.
    public private(set) var path: String?
    /// Returns the path of the file for the name that the server suggests; `nil` cancels the download.
    public var onDestination: (@MainActor (String) -> String?)?
    /// Called when more bytes have arrived.
    public var onProgress: (@MainActor () -> Void)?
    /// Called once at the end, with an error if the file is not complete.
    public var onEnd: (@MainActor (EngineError?) -> Void)?

    init(_ raw: UnsafeMutableRawPointer) {
        object = GObjectBox(retaining: raw)
        object.connect("decide-destination") { [weak self] in self?.decide($0.string(1)) ?? false }
        object.observe("received-data") { [weak self] _ in self?.onProgress?() }
        object.observe("failed") { [weak self] arguments in
            self?.failure = EngineError(copying: arguments.boxed(1))
        }
        object.observe("finished") { [weak self] _ in self?.end() }
    }

    private func decide(_ name: String) -> Bool {
        guard let path = onDestination?(name) else {
            cancel()
            return true
        }
        self.path = path
        webkit_download_set_allow_overwrite(object.opaque, 0)
        webkit_download_set_destination(object.opaque, path)
        return true
    }

    private func end() {
        let onEnd = onEnd
        self.onEnd = nil
        onEnd?(failure)
    }

    /// Cancels the download. The partial file is removed.
    public func cancel() { webkit_download_cancel(object.opaque) }

    /// The address.
    public var uri: String {
        let request = webkit_download_get_request(object.opaque)
        return webkit_uri_request_get_uri(request).map { String(cString: $0) } ?? ""
    }

    /// The number of received bytes.
    public var receivedBytes: Int { Int(clamping: webkit_download_get_received_data_length(object.opaque)) }

    /// The estimated progress, from 0 to 1.
    public var progress: Double { webkit_download_get_estimated_progress(object.opaque) }

    /// Whether the page of a view began the download.
    ///
    /// - Parameter view: The view.
    public func isOf(_ view: WebView) -> Bool { webkit_download_get_web_view(object.opaque) == view.pointer }
}

extension WebEngine {
    /// Calls `body` with each new download.
    ///
    /// - Parameter body: The closure; it returns whether the download may continue.
    public func onDownload(_ body: @escaping @MainActor (WebDownload) -> Bool) {
        session.observe("download-started") { arguments in
            guard let raw = arguments.object(1) else { return }
            let download = WebDownload(raw)
            if !body(download) { download.cancel() }
        }
    }
}
