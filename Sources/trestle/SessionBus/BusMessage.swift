/// A value in a message's body, of the types that desktop services commonly use.
indirect enum BusValue: Sendable, Hashable {
    /// `y`
    case byte(UInt8)
    /// `b`
    case boolean(Bool)
    /// `i`
    case int32(Int32)
    /// `u`
    case uint32(UInt32)
    /// `s`. Must not contain U+0000, which D-Bus cannot represent.
    case string(String)
    /// `as`
    case strings([String])
    /// `a{sv}`
    case properties([String: BusValue])
    /// A value of another type, which is neither read nor written here.
    case other

    /// The text; `nil` for a value of another type.
    var text: String? { if case .string(let text) = self { text } else { nil } }
    /// The number; `nil` if it is not a `u`.
    var number: UInt32? { if case .uint32(let number) = self { number } else { nil } }
    /// The texts; `nil` if it is not an array of texts.
    var texts: [String]? { if case .strings(let texts) = self { texts } else { nil } }
}

/// A received message: a call's reply, or a signal.
struct BusMessage: Sendable, Hashable {
    /// The unique name of the sender's connection, such as `:1.7`; empty if the bus does not provide it.
    var sender: String
    /// The values, in order.
    var body: [BusValue]
}

/// A method of an object of a program on the bus.
struct BusMethod: Sendable, Hashable {
    /// The bus name of the recipient.
    var destination: String
    /// The object's path.
    var path: String
    /// The interface that contains the method.
    var interface: String
    /// The method's name.
    var member: String

    /// Creates a method from its parts.
    init(destination: String, path: String, interface: String, member: String) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
    }
}

/// The selection of signals. A property that is `nil` matches every value.
struct BusSignal: Sendable, Hashable {
    /// The bus name of the sender, which the bus checks.
    var sender: String?
    /// The object's path.
    var path: String?
    /// The interface that contains the signal.
    var interface: String
    /// The signal's name.
    var member: String
    /// The required first value.
    var firstText: String?

    /// Creates a selection of signals.
    init(
        sender: String? = nil, path: String? = nil, interface: String, member: String, firstText: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.firstText = firstText
    }

    /// The match rule for the bus. The bus refuses names that contain quotes.
    var rule: String {
        let parts = [
            ("sender", sender), ("path", path), ("interface", interface), ("member", member), ("arg0", firstText),
        ]
        return parts.reduce("type='signal'") { rule, part in part.1.map { "\(rule),\(part.0)='\($0)'" } ?? rule }
    }
}
