/// Which dialect a message came in, and what answers it goes out in. A plain number: it stands in every call.
public enum DialectID: UInt8, CaseIterable, Sendable {
    /// The native dialect.
    case native
    /// WebViewJavascriptBridge.
    case webViewJavascriptBridge
    /// JSON-RPC 2.0, whose batches are answered as batches.
    case jsonRPC
    /// URLs that pages navigate to.
    case url
    /// A function's name and its value.
    case functionCall
    /// Capacitor.
    case capacitor

    /// What the dialect is called.
    public var name: String {
        switch self {
        case .native: "native"
        case .webViewJavascriptBridge: "WebViewJavascriptBridge"
        case .jsonRPC: "JSON-RPC"
        case .url: "URL"
        case .functionCall: "function call"
        case .capacitor: "Capacitor"
        }
    }

    /// The dialect of this name, such as another version of the daemon knew it; nil: there is none here.
    public init?(named name: String) {
        guard let known = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = known
    }

    /// A bit for each dialect, for sets of them.
    public var bit: UInt32 { 1 &<< UInt32(rawValue) }

    /// All but the native one.
    static let foreign = Array(allCases.dropFirst())
}

/// Where the answer to a call goes.
public struct CallbackAddress {
    /// The dialect of the call.
    public var dialect: DialectID
    /// Its id as it came; nil: the answer is about a message.
    public var id: UnsafeRawBufferPointer?
    /// The task's name, where it is known; else empty.
    public var task: UnsafeRawBufferPointer
    /// Whether the message was not even JSON.
    public var isNotJSON = false

    /// An address.
    public init(_ dialect: DialectID, id: UnsafeRawBufferPointer?, task: UnsafeRawBufferPointer) {
        self.dialect = dialect
        self.id = id
        self.task = task
    }
}
