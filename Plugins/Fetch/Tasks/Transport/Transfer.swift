import CCurl
import HTTPRules
import TaskKit

/// One request of libcurl's. The thread of its network only.
final class Transfer {
    /// How many bytes are received in one call. libcurl waits for the socket once for each.
    private static let receivedBytes = 32 << 10

    let number: UInt64
    let request: TransferRequest
    let channel: ResponseChannel
    /// libcurl's handle, which another request gets after this one.
    let easy: EasyHandle
    private var hasLeft = false
    private let lookups: OpenLookups
    private let url: OpaquePointer
    private var lines: UnsafeMutablePointer<curl_slist>?

    var headers = HeaderReader()
    /// What becomes of the body; nil: no head has come.
    var pipeline: BodyPipeline?
    /// The reader's pipe, where the body goes into one.
    var outlet: PipeOutlet?
    /// The body of a redirect is dropped.
    var isDropping = false
    /// Whether it has tried this machine's own addresses, for which no network is needed.
    var triesLoopback = false
    /// Whether something has come for its reader since that was last woken up.
    var hasNews = false
    /// Why the callbacks have ended it; nil: they have not.
    var fault: BridgeError?
    /// libcurl holds bytes back until the reader has taken some.
    var isReceivingPaused = false
    /// libcurl waits for bytes of the request's body.
    var isSendingPaused = false
    /// How libcurl ended it; nil: it goes on.
    var result: CURLcode?
    var progress = TransferProgress(phase: .connecting, sent: 0, received: 0)
    /// The phase that was reported last.
    var reportedPhase: TransferProgress.Phase?
    /// What was reported last, and when.
    var reported: (progress: TransferProgress, at: ContinuousClock.Instant)?
    let start = ContinuousClock.now
    var lastActivity = ContinuousClock.now

    /// Whether its name may be looked up.
    var mayLookUp: Bool { lookups.hasRoom(at: .now) }

    /// Whether a byte of the request may have been sent.
    var hasStarted: Bool { !progress.phase.isBeforeRequest }

    /// libcurl's name for ``easy``.
    var handle: UnsafeMutableRawPointer { easy.pointer }

    /// - Parameters:
    ///   - easy: A handle that no other transfer has.
    ///   - lookups: Those of the thread.
    ///   - onBody: Called, on any thread, when the request's body has more bytes.
    /// - Throws: Where the request cannot be made.
    init(
        _ number: UInt64, _ request: TransferRequest, _ channel: ResponseChannel, on easy: EasyHandle,
        _ lookups: OpenLookups, onBody: @escaping @Sendable () -> Void
    ) throws(BridgeError) {
        self.lookups = lookups
        self.number = number
        self.request = request
        self.channel = channel
        if let body = request.body, !body.rewind(onBytes: onBody) { throw .bodyUsed }
        url = try CheckedURL.make(request.url)
        self.easy = easy
        guard setUp() else { throw BridgeError(.internal, "libcurl did not take the request") }
    }

    deinit { _ = leaveHandle() }

    /// Ends the use of the handle, once libcurl does nothing with it any more. It is another transfer's then.
    func leaveHandle() -> EasyHandle {
        guard !hasLeft else { return easy }
        hasLeft = true
        if progress.phase == .resolving, result == nil || result == CURLE_OPERATION_TIMEDOUT { lookups.add(at: .now) }
        // It has the lines and the URL.
        easy.forget()
        curl_slist_free_all(lines)
        curl_url_cleanup(url)
        return easy
    }

    // MARK: Setting up

    private func setUp() -> Bool {
        setURL() && setMethod() && setLines() && setLimits() && request.tls.apply(to: handle, request.url.host)
            && setCallbacks()
    }

    private func setURL() -> Bool {
        ccurl_set_url(handle, url) && ccurl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
            && ccurl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0) && ccurl_set_long(handle, CURLOPT_PATH_AS_IS, 1)
            // Not those of the environment either.
            && ccurl_set_text(handle, CURLOPT_PROXY, request.proxy ?? "") && ccurl_set_text(handle, CURLOPT_NOPROXY, "")
            // The request's own fields are not for the proxy.
            && ccurl_set_long(handle, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
            && ccurl_set_long(handle, CURLOPT_NETRC, 0)
            && ccurl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
            && ccurl_set_long(handle, CURLOPT_HTTP09_ALLOWED, 0)
            && ccurl_set_long(handle, CURLOPT_HTTP_CONTENT_DECODING, 0)
    }

    /// A request with a body is an upload to libcurl, whatever its method.
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
            // One that ends in a semicolon sends a field without a value.
            guard add(&line, field.name, value.isEmpty ? ";" : ": ", value) else { return false }
        }
        return ccurl_set_header_lines(handle, lines)
    }

    /// Adds a line, made in memory that all lines use.
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

    private func setLimits() -> Bool {
        // Refused where the handle's last transfer ended before it had a connection, and has left its buffer.
        _ = ccurl_set_long(handle, CURLOPT_BUFFERSIZE, Self.receivedBytes)
        return ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
            && ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, request.connectTimeout.wholeMilliseconds)
            && ccurl_set_long(handle, CURLOPT_TCP_KEEPALIVE, 1)
            // Without this, the end of a transfer whose name is looked up waits for the resolver, and all others too.
            && ccurl_set_long(handle, CURLOPT_QUICK_EXIT, 1)
    }

    private func setCallbacks() -> Bool {
        let context = Unmanaged.passUnretained(self).toOpaque()
        return ccurl_set_context(handle, context)
            && ccurl_set_response_functions(handle, TransferCallbacks.header, TransferCallbacks.body)
            && ccurl_set_request_functions(handle, TransferCallbacks.read, TransferCallbacks.seek)
            && ccurl_set_address_functions(
                handle, TransferCallbacks.resolve, TransferCallbacks.socket, TransferCallbacks.secure,
                TransferCallbacks.request)
    }
}

extension BridgeError {
    /// `http.body_used`.
    static let bodyUsed = BridgeError(
        .httpBodyUsed,
        "the request's body is needed again, and of a stream only the first \(RequestBody.keptBytes) bytes are kept")
}

extension Duration {
    /// In milliseconds, rounded up.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(clamping: seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

/// URLs as libcurl reads them.
enum CheckedURL {
    /// libcurl's form of a URL. Where it finds another host or port in it than was checked, it is refused.
    ///
    /// - Returns: What the caller frees with `curl_url_cleanup`.
    static func make(_ url: WebURL) throws(BridgeError) -> OpaquePointer {
        guard let parsed = curl_url() else { throw BridgeError(.internal, "there is no memory for a URL") }
        let isSame =
            curl_url_set(parsed, CURLUPART_URL, url.text, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK
            && part(CURLUPART_HOST, of: parsed) == url.host.text
            && part(CURLUPART_PORT, of: parsed) == String(url.port)
            && part(CURLUPART_SCHEME, of: parsed) == url.scheme.rawValue
        guard isSame else {
            curl_url_cleanup(parsed)
            throw .invalidOption("$.url", expected: "a URL", got: "one that can be read in two ways")
        }
        return parsed
    }

    private static func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
