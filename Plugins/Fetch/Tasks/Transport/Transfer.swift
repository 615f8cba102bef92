import CCurl
import HTTPRules
import TaskKit

/// One libcurl transfer. Used only by the thread of its network.
final class Transfer {
    let number: UInt64
    let request: TransferRequest
    let channel: ResponseChannel
    /// The libcurl handle. Another transfer uses it after this one.
    let easy: EasyHandle
    private var hasLeft = false
    /// The number of connections that were used for the request. libcurl repeats the request if a connection was lost
    /// before the response.
    var attempts = 0
    private let lookups: OpenLookups
    private let url: OpaquePointer
    private var lines: UnsafeMutablePointer<curl_slist>?

    var headers = HeaderReader()
    /// The pipeline of the body; `nil` if no head has arrived.
    var pipeline: BodyPipeline?
    /// The reader's pipe; `nil` if the body is not written into one.
    var outlet: PipeOutlet?
    /// Whether the body is dropped, because it belongs to a redirect.
    var isDropping = false
    /// Whether it has tried a loopback address, which needs no network access.
    var triesLoopback = false
    /// Whether an event has arrived for the reader since the reader was last woken up.
    var hasNews = false
    /// The error with which a callback has ended the transfer; `nil` if none has.
    var fault: BridgeError?
    /// Whether libcurl holds back bytes until the reader has taken some.
    var isReceivingPaused = false
    /// Whether libcurl waits for bytes of the request's body.
    var isSendingPaused = false
    /// The result with which libcurl ended the transfer; `nil` while it runs.
    var result: CURLcode?
    var progress = TransferProgress(phase: .connecting, sent: 0, received: 0)
    /// The phase that was reported last.
    var reportedPhase: TransferProgress.Phase?
    /// The last reported progress and its time.
    var reported: (progress: TransferProgress, at: ContinuousClock.Instant)?
    let start = ContinuousClock.now
    /// Whether bytes were sent or received since ``lastActivity`` was recorded.
    var isActive = false
    private(set) var lastActivity: ContinuousClock.Instant

    /// Whether the transfer may begin a lookup.
    var mayLookUp: Bool { lookups.hasRoom(at: .now) }

    /// Whether a byte of the request may have been sent.
    var hasStarted: Bool { !progress.phase.isBeforeRequest }

    /// Records the time of the last activity. Its precision is one turn of the thread, which reads the clock once.
    func noteActivity(at now: ContinuousClock.Instant) {
        if isActive { (isActive, lastActivity) = (false, now) }
    }

    /// The libcurl pointer of ``easy``.
    var handle: UnsafeMutableRawPointer { easy.pointer }

    /// Sets up a transfer.
    ///
    /// - Parameters:
    ///   - easy: A handle that no other transfer uses.
    ///   - lookups: The open lookups of the thread.
    ///   - onBody: Called on any thread when the request's body has more bytes.
    /// - Throws: If the request cannot be set up.
    init(
        _ number: UInt64, _ request: TransferRequest, _ channel: ResponseChannel, on easy: EasyHandle,
        _ lookups: OpenLookups, onBody: @escaping @Sendable () -> Void
    ) throws(BridgeError) {
        lastActivity = start
        self.lookups = lookups
        self.number = number
        self.request = request
        self.channel = channel
        if let body = request.body, !body.rewind(onBytes: onBody) { throw .bodyUsed }
        url = try CheckedURL.make(request.url)
        self.easy = easy
        guard setUp() else { throw BridgeError(.internal, "libcurl refused the request") }
    }

    deinit { _ = leaveHandle() }

    /// Releases and returns the handle when libcurl does not use it any more. Another transfer may then use it.
    func leaveHandle() -> EasyHandle {
        guard !hasLeft else { return easy }
        hasLeft = true
        if progress.phase == .resolving, result == nil || result == CURLE_OPERATION_TIMEDOUT { lookups.add(at: .now) }
        // First, because the handle refers to the lines and the URL.
        easy.leave(keepsOptions: isOrdinary && result == CURLE_OK && attempts == 1)
        curl_slist_free_all(lines)
        curl_url_cleanup(url)
        return easy
    }

    // MARK: Setting up

    /// Whether the transfer sets only options that each request sets again.
    private var isOrdinary: Bool {
        request.method == "GET" && request.body == nil && !request.tls.hasPins(for: request.url.host)
    }

    private func setUp() -> Bool {
        easy.prepare(StandingOptions(request)) && ccurl_set_url(handle, url) && setMethod() && setLines()
            && request.tls.setPins(of: request.url.host, on: handle)
            && ccurl_set_context(handle, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Sets the method. For libcurl, a request with a body is an upload, independent of its method.
    private func setMethod() -> Bool {
        if request.method == "HEAD" { return ccurl_set_long(handle, CURLOPT_NOBODY, 1) }
        if request.body != nil || ["POST", "PUT", "PATCH"].contains(request.method) {
            let count = request.body.map { $0.byteCount ?? -1 } ?? 0
            return ccurl_set_long(handle, CURLOPT_UPLOAD, 1)
                && ccurl_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method)
                && ccurl_set_size(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(count))
        }
        if request.method == "GET" { return ccurl_set_long(handle, CURLOPT_HTTPGET, 1) }
        return ccurl_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method)
    }

    private func setLines() -> Bool {
        var line: [UInt8] = []
        // A line without a value removes the field that libcurl would add.
        for name in ["Accept", "Expect"] where !request.headers.contains(named: name) {
            guard add(&line, name, ":", []) else { return false }
        }
        for field in request.headers {
            guard let value = FieldText.encode(field.value) else { return false }
            // A line that ends in a semicolon sends a field without a value.
            guard add(&line, field.name, value.isEmpty ? ";" : ": ", value) else { return false }
        }
        return ccurl_set_header_lines(handle, lines)
    }

    /// Adds a line. All lines are assembled in the same buffer.
    private func add(_ line: inout [UInt8], _ name: String, _ mark: String, _ value: [UInt8]) -> Bool {
        line.removeAll(keepingCapacity: true)
        line += name.utf8
        line += mark.utf8
        line += value
        line.append(0)
        let added = line.withUnsafeBytes { curl_slist_append(lines, $0.bindMemory(to: CChar.self).baseAddress) }
        guard let added else { return false }
        lines = added
        return true
    }
}

extension BridgeError {
    /// `http.body_used`.
    static let bodyUsed = BridgeError(
        .httpBodyUsed,
        "the request's body is needed again, and of a stream only the first \(RequestBody.keptBytes) bytes are kept")
}

extension Duration {
    /// The duration in milliseconds, rounded up.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(clamping: seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

/// URLs as libcurl parses them.
enum CheckedURL {
    /// Returns libcurl's form of a URL. A URL in which libcurl finds another host, port or scheme than was checked is
    /// refused.
    ///
    /// - Returns: A handle that the caller must free with `curl_url_cleanup`.
    static func make(_ url: WebURL) throws(BridgeError) -> OpaquePointer {
        guard let parsed = curl_url() else { throw BridgeError(.internal, "there is not enough memory for a URL") }
        let isSame =
            curl_url_set(parsed, CURLUPART_URL, url.text, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK
            && ccurl_part_is(parsed, CURLUPART_HOST, url.host.text)
            && ccurl_part_is(parsed, CURLUPART_PORT, String(url.port))
            && ccurl_part_is(parsed, CURLUPART_SCHEME, url.scheme.rawValue)
        guard isSame else {
            curl_url_cleanup(parsed)
            throw .invalidOption("$.url", expected: "a URL", got: "one that can be read in two ways")
        }
        return parsed
    }
}
