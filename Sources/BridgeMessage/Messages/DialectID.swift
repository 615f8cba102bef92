/// The dialect of a message and of the answers to it. A plain number, because every call contains it.
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

    /// The name of the dialect.
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

    /// Creates the dialect from its name, which may be from another version of the daemon; nil if it is unknown.
    public init?(named name: String) {
        guard let known = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = known
    }

    /// A bit for each dialect, for sets of them.
    public var bit: UInt32 { 1 &<< UInt32(rawValue) }

    /// All dialects except the native one.
    static let foreign = Array(allCases.dropFirst())
}

/// The address of the answer to a call.
public struct CallbackAddress {
    /// The dialect of the call.
    public var dialect: DialectID
    /// Its id as it was received; nil if the answer is about a message.
    public var id: UnsafeRawBufferPointer?
    /// The task's name; empty if unknown.
    public var task: UnsafeRawBufferPointer
    /// Whether the message was not JSON.
    public var isNotJSON = false

    /// Creates an address.
    public init(_ dialect: DialectID, id: UnsafeRawBufferPointer?, task: UnsafeRawBufferPointer) {
        self.dialect = dialect
        self.id = id
        self.task = task
    }
}
