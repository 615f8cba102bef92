/// A value in a message's body: those types that desktop services commonly use.
indirect enum BusValue: Sendable, Hashable {
    /// `y`
    case byte(UInt8)
    /// `b`
    case boolean(Bool)
    /// `i`
    case int32(Int32)
    /// `u`
    case uint32(UInt32)
    /// `s`. It must not hold U+0000, which D-Bus has no way to carry.
    case string(String)
    /// `as`
    case strings([String])
    /// `a{sv}`
    case properties([String: BusValue])
    /// A value of another type, which this module neither reads nor writes.
    case other

    /// The text, where it is one.
    var text: String? { if case .string(let text) = self { text } else { nil } }
    /// The number, where it is a `u`.
    var number: UInt32? { if case .uint32(let number) = self { number } else { nil } }
    /// The texts, where it is an array of such.
    var texts: [String]? { if case .strings(let texts) = self { texts } else { nil } }
}

/// A message that came: a call's reply, or a signal.
struct BusMessage: Sendable, Hashable {
    /// The unique name of the connection that sent it, such as `:1.7`; empty where the bus does not say.
    var sender: String
    /// Its values, in their order.
    var body: [BusValue]
}

/// What is called: a method of an object of a program on the bus.
struct BusMethod: Sendable, Hashable {
    /// The bus name of whom it goes to.
    var destination: String
    /// The object's path.
    var path: String
    /// The interface that has the method.
    var interface: String
    /// The method's name.
    var member: String

    /// The method of that name.
    init(destination: String, path: String, interface: String, member: String) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
    }
}

/// Which signals are wanted. What is nil may be anything.
struct BusSignal: Sendable, Hashable {
    /// The bus name of whom it comes from; the bus itself sees to it.
    var sender: String?
    /// The object's path.
    var path: String?
    /// The interface that has the signal.
    var interface: String
    /// The signal's name.
    var member: String
    /// What the first value must be.
    var firstText: String?

    /// The signals of that name.
    init(
        sender: String? = nil, path: String? = nil, interface: String, member: String, firstText: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.firstText = firstText
    }

    /// As the bus wants it. Names have no quotes in them, or the bus refuses them.
    var rule: String {
        let parts = [
            ("sender", sender), ("path", path), ("interface", interface), ("member", member), ("arg0", firstText),
        ]
        return parts.reduce("type='signal'") { rule, part in part.1.map { "\(rule),\(part.0)='\($0)'" } ?? rule }
    }
}
