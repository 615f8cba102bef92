import HTTPRules
import TaskKit

/// The status line and header fields of a response.
struct ResponseHead: Sendable {
    var status: Int
    /// The reason phrase; empty for HTTP/2.
    var reason: String
    /// `http/1.0`, `http/1.1`, `h2`.
    var version: String
    var headers: HeaderList
    /// Whether the body is delivered without decoding.
    var isBodyAsSent = false

    /// Whether the response is a redirect.
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) && headers.contains(named: "Location") }
}

/// The figures of a transfer when its body has ended.
struct TransferSummary: Sendable {
    var wireBytes: Int64
    var decodedBytes: Int64
    /// The time since the transfer began.
    var total: Duration
}

/// The progress of a transfer, as numbers.
struct TransferProgress: Codable, Sendable, Hashable {
    enum Phase: String, Codable, Sendable, CaseIterable {
        case queued
        /// The name is being resolved.
        case resolving
        /// A connection is being made or waited for.
        case connecting
        /// The TLS session is being established.
        case securing
        case sending
        case waiting
        case receiving

        /// Whether no part of the request can have been sent yet.
        var isBeforeRequest: Bool { [.queued, .resolving, .connecting, .securing].contains(self) }
    }

    var phase: Phase
    /// The number of sent bytes of the request's body.
    var sent: Int64
    /// The number of received bytes of the response's body, before decoding.
    var received: Int64
    /// The expected total of ``received``; `nil` if the server does not specify it.
    var of: Int64?
}

/// Parses the lines around a body: status lines, interim responses, fields and trailers. It counts all of them.
struct HeaderReader {
    /// The maximum number of interim responses, which have a status below 200, before the final one.
    static let maximumInterim = 10

    private var head: ResponseHead?
    private var lineCount = 0
    private var byteCount = 0
    private var interimCount = 0
    private var isDone = false

    /// Parses a line with its line end.
    ///
    /// - Returns: The head when it is complete; otherwise `nil`.
    /// - Throws: `http.too_large`, `http.protocol`.
    mutating func take(_ line: UnsafeRawBufferPointer) throws(BridgeError) -> ResponseHead? {
        try count(line.count)
        // Trailers are counted and dropped.
        guard !isDone else { return nil }
        let text = Array(line[..<(line.firstIndex { $0 == 0x0D || $0 == 0x0A } ?? line.endIndex)])
        if text.isEmpty { return try endBlock() }
        if text.starts(with: Self.statusMark) {
            head = try Self.statusLine(text)
            return nil
        }
        guard let field = HeaderField(line: text), head != nil else {
            throw .brokenProtocol("the server sent a line that is not a header field")
        }
        head?.headers.append(field)
        return nil
    }

    private mutating func count(_ bytes: Int) throws(BridgeError) {
        lineCount += 1
        byteCount += bytes
        guard lineCount <= HeaderList.maximumLines + Self.maximumInterim * 2 else {
            let limit = HeaderList.maximumLines
            throw .tooLarge(.headers, limit: Int64(limit), "the server sent more than \(limit) header lines")
        }
        guard byteCount <= HeaderList.maximumBytes else {
            let limit = HeaderList.maximumBytes
            throw .tooLarge(.headers, limit: Int64(limit), "the server's headers have more than \(limit) bytes")
        }
    }

    private mutating func endBlock() throws(BridgeError) -> ResponseHead? {
        guard let head else { throw .brokenProtocol("the server sent no status line") }
        if head.status < 200 {
            interimCount += 1
            guard interimCount <= Self.maximumInterim, head.status != 101 else {
                throw .brokenProtocol("the server sent too many interim responses, or switched protocols")
            }
            self.head = nil
            return nil
        }
        isDone = true
        try Self.check(head.headers)
        return head
    }

    /// Refuses fields that two parsers could interpret as bodies of different lengths.
    private static func check(_ headers: HeaderList) throws(BridgeError) {
        let lengths = headers.members(named: "Content-Length")
        guard lengths.allSatisfy({ $0 == lengths[0] && Int64($0).map { $0 >= 0 } ?? false }) else {
            throw .brokenProtocol("the server sent a Content-Length that is not a number, or two")
        }
        guard headers.members(named: "Transfer-Encoding").allSatisfy({ $0.lowercased() == "chunked" }) else {
            throw .brokenProtocol("the server sent a transfer coding other than chunked")
        }
    }

    private static let statusMark = Array("HTTP/".utf8)

    private static func statusLine(_ line: [UInt8]) throws(BridgeError) -> ResponseHead {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[1].count == 3, let status = Int(FieldText.decode(parts[1])), status >= 100 else {
            throw .brokenProtocol("the server sent no status line")
        }
        return ResponseHead(
            status: status, reason: parts.count > 2 ? FieldText.decode(parts[2]) : "",
            version: version(FieldText.decode(parts[0])), headers: HeaderList())
    }

    private static func version(_ text: String) -> String {
        switch text {
        case "HTTP/1.1": "http/1.1"
        case "HTTP/2": "h2"
        default: text.lowercased()
        }
    }
}
