internal import CWebKitGTK
internal import MainLoop

/// A file that a page has the engine fetch and keep.
@MainActor
public final class WebDownload {
    private let object: GObjectBox
    private var failure: EngineError?
    /// The file, once it is decided.
    public private(set) var path: String?
    /// Decides the file by the name that the server suggests; nil: it is not kept.
    public var onDestination: (@MainActor (String) -> String?)?
    /// More bytes have come.
    public var onProgress: (@MainActor () -> Void)?
    /// It has ended, with an error where the file is not whole. Called once.
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

    /// Ends it. What was kept is removed.
    public func cancel() { webkit_download_cancel(object.opaque) }

    /// The address.
    public var uri: String {
        let request = webkit_download_get_request(object.opaque)
        return webkit_uri_request_get_uri(request).map { String(cString: $0) } ?? ""
    }

    /// The bytes that have come.
    public var receivedBytes: Int { Int(clamping: webkit_download_get_received_data_length(object.opaque)) }

    /// How far it is, from 0 to 1.
    public var progress: Double { webkit_download_get_estimated_progress(object.opaque) }

    /// Whether a view's page began it, which then is this view.
    ///
    /// - Parameter view: The view.
    public func isOf(_ view: WebView) -> Bool { webkit_download_get_web_view(object.opaque) == view.pointer }
}

extension WebEngine {
    /// Calls `body` with each download that begins. Without, none goes on.
    ///
    /// - Parameter body: What is called; it returns whether the download may go on.
    public func onDownload(_ body: @escaping @MainActor (WebDownload) -> Bool) {
        session.observe("download-started") { arguments in
            guard let raw = arguments.object(1) else { return }
            let download = WebDownload(raw)
            if !body(download) { download.cancel() }
        }
    }
}
