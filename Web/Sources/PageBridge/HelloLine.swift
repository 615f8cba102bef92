internal import BridgeJSON
internal import WebProfiles

/// The description of a document for the daemon.
public struct PageDescription: Sendable, Hashable {
    /// The address; `nil` for none.
    public var uri: String?
    /// The title.
    public var title: String

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - uri: The address.
    ///   - title: The title.
    public init(uri: String? = nil, title: String = "") {
        self.uri = uri
        self.title = title
    }

    /// The daemon's limit for address and title together is 8,192 bytes.
    fileprivate var json: JSON {
        ["url": .string((uri ?? "").cut(toBytes: 7_000)), "title": .string(title.cut(toBytes: 1_000))]
    }
}

/// The container's own calls on a document's connection, and the answer to the first.
struct HelloLine: Sendable {
    /// The maximum number of bytes of a user agent that the daemon accepts.
    private static let maximumUserAgentBytes = 1_024
    private let id: String

    /// - Parameter secret: A text that pages cannot guess, so that a page's own call cannot be mistaken for the hello.
    init(secret: String) { id = "trestle-web:\(secret)" }

    /// Returns the first line of a connection.
    func line(_ origin: PageOrigin, _ page: PageDescription, _ userAgent: String) -> [UInt8] {
        call(
            [
                "client": "trestle-web", "origin": .string(origin.text), "page": page.json,
                "userAgent": .string(userAgent.cut(toBytes: Self.maximumUserAgentBytes)),
            ], id: .string(id))
    }

    /// Returns the line that reports a change of the page; it gets no answer.
    func update(_ page: PageDescription) -> [UInt8] { call(["page": page.json], id: nil) }

    private func call(_ options: JSON, id: JSON?) -> [UInt8] {
        var call: JSONObject = ["task": "bridge.hello", "options": options]
        call["callbackId"] = id
        return Array(JSON.object(call).text.utf8)
    }

    /// The daemon's answer to the hello.
    struct Answer {
        /// `nil` if the daemon accepted the hello.
        var refusal: (code: String, message: String)?
        /// The session's number.
        var session: Int64?
        /// The lines after the answer.
        var rest: [UInt8]
    }

    /// Returns the answer, which is the first line from a daemon; `nil` if it is something else.
    func answer(in lines: [UInt8]) -> Answer? {
        let first = lines.prefix { $0 != 0x0A }
        guard let json = try? JSON(parsing: Array(first)), json["callbackId"]?.stringValue == id else { return nil }
        let rest = Array(lines.dropFirst(first.count + 1))
        if let result = json["result"] {
            return Answer(refusal: nil, session: result["session"]?.int64Value, rest: rest)
        }
        let code = json["error"]?["code"]?.stringValue ?? "internal"
        let message = json["error"]?["message"]?.stringValue ?? "the daemon gives no reason"
        return Answer(refusal: (code, message), session: nil, rest: rest)
    }
}
