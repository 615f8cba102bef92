import BridgeJSON
@testable import BridgeMessage

/// An account of the callbacks that a client must receive for its messages, and of those that it received. One entry
/// for each id, because an id may be used again.
struct CallbackAccount {
    /// The form of an answer: some dialects share one.
    enum Form: Hashable {
        case native, webView, jsonRPC, capacitor

        init(_ dialect: DialectID) {
            switch dialect.name {
            case "WebViewJavascriptBridge": self = .webView
            case "JSON-RPC": self = .jsonRPC
            case "Capacitor": self = .capacitor
            default: self = .native
            }
        }
    }

    /// The id of an answer.
    struct Key: Hashable, CustomStringConvertible {
        var form: Form
        var isString: Bool
        var content: [UInt8]

        var description: String { "\(form) \(isString) \(content.shown)" }
    }

    private struct Entry {
        var owed = 0
        var paid = 0
        var mayBePaid = 0
    }

    private var entries: [Key: Entry] = [:]
    private var withoutID = Entry()
    /// JSON-RPC accepts null as an id: such a message cannot be distinguished from one without an id.
    private var hasNullID = false
    /// The id of the last call that was forwarded to the client.
    private(set) var lastForwardedID: [UInt8] = []
    /// The name of the last stream that the client has created.
    private(set) var lastStream: [UInt8] = []

    /// Returns the name, only once.
    mutating func takeLastStream() -> [UInt8] {
        defer { lastStream = [] }
        return lastStream
    }

    // MARK: Owed

    /// Records that a message of the client requires an answer with this id.
    mutating func owe(_ id: CallbackID?, _ dialect: DialectID) {
        guard let id, !id.text.elementsEqual("null".utf8) else {
            if id != nil { hasNullID = true }
            withoutID.owed += 1
            return
        }
        let key = named(id.text) ?? Key(form: Form(dialect), isString: id.isString, content: Array(id.content))
        entries[key, default: Entry()].owed += 1
    }

    /// Records the start of a listener, which is answered only if it fails.
    mutating func oweRefusal(_ id: CallbackID) {
        let key = Key(form: .capacitor, isString: id.isString, content: Array(id.content))
        entries[key, default: Entry()].mayBePaid += 1
    }

    /// Returns the key of an id that contains the name of a page's function: its members; `nil` for any other id.
    private func named(_ id: UnsafeRawBufferPointer) -> Key? {
        id.first == UInt8(ascii: "{") ? (try? JSON(parsing: id)).flatMap(namedKey) : nil
    }

    private func namedKey(_ message: JSON) -> Key? {
        guard message["callback"] != nil || message["callbackFunction"] != nil else { return nil }
        let members = ["callbackId", "callback", "callbackFunction"].map { message[$0]?.text ?? "-" }
        return Key(form: .native, isString: false, content: Array(members.joined(separator: " ").utf8))
    }

    /// Records a call with a string id in the native dialect.
    mutating func owe(string id: String) {
        entries[Key(form: .native, isString: true, content: Array(id.utf8)), default: Entry()].owed += 1
    }

    // MARK: Paid

    /// Records a line that was written to the client.
    mutating func take(_ line: [UInt8]) throws(Violation) {
        guard let json = try? JSON(parsing: line) else { throw Violation(description: "no JSON: \(line.shown)") }
        guard let answers = json.arrayValue else { return try take(json) }
        try require(!answers.isEmpty, "an empty batch")
        for answer in answers {
            try require(answer["jsonrpc"] == "2.0" && answer["method"] == nil, "in a batch: \(answer.text)")
            try take(answer)
        }
    }

    private mutating func take(_ message: JSON) throws(Violation) {
        try require(message.objectValue != nil, "no message: \(message.text)")
        if let stream = message["result"]?["stream"]?.stringValue { lastStream = Array(stream.utf8) }
        if message["event"] != nil || message["cancel"] != nil { return }
        if message["jsonrpc"] != nil {
            if message["method"] != nil { return note(message["id"]) }
            try requireOne(of: "result", "error", message)
            return try pay(message["id"], .jsonRPC, message, data: message["error"]?["data"]?["data"])
        }
        if let id = message["responseId"] {
            if message["progress"] != nil { return try checkProgress(id, .webView, message) }
            return try pay(id, .webView, message, data: message["responseData"]?["error"]?["data"])
        }
        if message["success"] != nil {
            let id = message["callbackId"]
            if message["save"] == true { return try checkProgress(id, .capacitor, message) }
            return try pay(id, .capacitor, message, data: message["error"]?["data"])
        }
        guard ["task", "handlerName", "funName", "url", "pluginId"].allSatisfy({ message[$0] == nil }) else {
            return note(message["callbackId"])
        }
        if message["progress"] != nil {
            if let key = namedKey(message) { return try checkProgress(key, message) }
            return try checkProgress(message["callbackId"], .native, message)
        }
        try requireOne(of: "result", "error", message)
        try pay(message["callbackId"], .native, message, data: message["error"]?["data"])
    }

    private func requireOne(of one: String, _ other: String, _ message: JSON) throws(Violation) {
        try require((message[one] == nil) != (message[other] == nil), "neither or both: \(message.text)")
    }

    private mutating func note(_ id: JSON?) {
        if let id { lastForwardedID = Array((id.stringValue ?? id.text).utf8) }
    }

    /// Returns the id if it is not null.
    private func named(_ id: JSON?) -> JSON? { id?.isNull == false ? id : Optional.none }

    private func key(_ id: JSON, _ form: Form) -> Key {
        Key(form: form, isString: id.stringValue != nil, content: Array((id.stringValue ?? id.text).utf8))
    }

    private mutating func pay(_ id: JSON?, _ form: Form, _ message: JSON, data: JSON?) throws(Violation) {
        // The data of an error about a message contains the id of a call that the error must not end.
        var key = form == .native ? namedKey(message) ?? data?["callbackId"].flatMap(namedKey) : nil
        if key == nil, let id = named(id) ?? named(data?["callbackId"]) { key = self.key(id, form) }
        guard let key else {
            withoutID.paid += 1
            return
        }
        entries[key, default: Entry()].paid += 1
        let entry = entries[key, default: Entry()]
        try require(
            entry.paid <= entry.owed + entry.mayBePaid || hasNullID,
            "a second answer, or one to nothing: \(message.text)")
    }

    private func checkProgress(_ id: JSON?, _ form: Form, _ message: JSON) throws(Violation) {
        guard let id else { throw Violation(description: "progress of no call: \(message.text)") }
        try checkProgress(key(id, form), message)
    }

    private func checkProgress(_ key: Key, _ message: JSON) throws(Violation) {
        // Events of listeners have the form of progress.
        guard let entry = entries[key], entry.paid < entry.owed + entry.mayBePaid else {
            throw Violation(description: "progress of no call: \(message.text)")
        }
    }

    // MARK: Settled

    /// Requires that every call has been answered.
    func checkSettled() throws(Violation) {
        var owed = withoutID.owed
        var paid = withoutID.paid
        for (key, entry) in entries {
            let isSettled = (entry.owed...(entry.owed + entry.mayBePaid)).contains(entry.paid)
            try require(isSettled || hasNullID, "\(key): owed \(entry.owed), paid \(entry.paid)")
            owed += max(entry.owed, min(entry.paid, entry.owed + entry.mayBePaid))
            paid += entry.paid
        }
        try require(owed == paid, "owed \(owed) answers, paid \(paid); without an id \(withoutID)")
    }
}
