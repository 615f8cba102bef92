import HTTPRules
import TaskKit

/// What stands before a response's body.
struct ResponseHead: Sendable {
    var status: Int
    /// The words behind the status; HTTP/2 has none.
    var reason: String
    /// `http/1.0`, `http/1.1`, `h2`.
    var version: String
    var headers: HeaderList
    /// Whether the body comes as it was sent, its codings not undone.
    var isBodyAsSent = false

    /// Whether it leads elsewhere.
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) && headers.contains(named: "Location") }
}

/// What is known of a transfer when its body has ended.
struct TransferSummary: Sendable {
    var wireBytes: Int64
    var decodedBytes: Int64
    /// Since the transfer began.
    var total: Duration
}

/// How far a transfer is: numbers alone.
struct TransferProgress: Codable, Sendable, Hashable {
    enum Phase: String, Codable, Sendable, CaseIterable {
        case queued
        /// The name is looked up.
        case resolving
        /// A connection is made, or waited for.
        case connecting
        /// The TLS session is made.
        case securing
        case sending
        case waiting
        case receiving

        /// Whether nothing of the request can have been sent yet.
        var isBeforeRequest: Bool { [.queued, .resolving, .connecting, .securing].contains(self) }
    }

    var phase: Phase
    /// Bytes of the request's body that were sent.
    var sent: Int64
    /// Bytes of the response's body that came, as they came.
    var received: Int64
    /// How many of these there will be, where the server says so.
    var of: Int64?
}

/// Reads the lines before a body: status lines, interim responses, fields, trailers; counts all of them.
struct HeaderReader {
    /// How many responses with a status below 200 may come before the one that counts.
    static let maximumInterim = 10

    private var head: ResponseHead?
    private var lineCount = 0
    private var byteCount = 0
    private var interimCount = 0
    private var isDone = false

    /// Takes a line with its end.
    ///
    /// - Returns: The head, once it is complete.
    /// - Throws: `http.too_large`, `http.protocol`.
    mutating func take(_ line: UnsafeRawBufferPointer) throws(BridgeError) -> ResponseHead? {
        try count(line.count)
        // Fields behind the body are counted and dropped.
        guard !isDone else { return nil }
        let text = Array(line[..<(line.firstIndex { $0 == 0x0D || $0 == 0x0A } ?? line.endIndex)])
        if text.isEmpty { return try endBlock() }
        if text.starts(with: Self.statusMark) {
            head = try Self.statusLine(text)
            return nil
        }
        guard let field = HeaderField(line: text), head != nil else {
            throw .brokenProtocol("the server sent a line that is no header field")
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

    /// What two readers could take for bodies of different lengths.
    private static func check(_ headers: HeaderList) throws(BridgeError) {
        let lengths = headers.members(named: "Content-Length")
        guard lengths.allSatisfy({ $0 == lengths[0] && Int64($0).map { $0 >= 0 } ?? false }) else {
            throw .brokenProtocol("the server sent a Content-Length that is no number, or two")
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
