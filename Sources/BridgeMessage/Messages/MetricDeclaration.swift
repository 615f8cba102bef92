import BridgeJSON

/// What is known of a metric that a plugin publishes, before it has a value: the same for a plugin in the daemon's
/// process and for one in a process of its own, which sends its metrics in messages.
public struct MetricDeclaration: Sendable {
    /// What a metric does.
    public enum Kind: String, Sendable {
        /// It goes up and down.
        case gauge
        /// It only grows, from 0 at the start of the plugin.
        case counter
    }

    /// Small letters, digits and `_`, without the unit.
    public var name: String
    /// What it does.
    public var kind: Kind
    /// A base unit such as `bytes` or `seconds`; nil: it counts things.
    public var unit: String?
    /// One sentence for a person.
    public var help: String

    /// A declaration.
    public init(name: String, kind: Kind, unit: String?, help: String) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
    }

    /// Names become parts of those that monitoring systems use, which bear the unit and `total` at their end.
    fileprivate func check() throws(MetricRefusal) {
        for word in [name] + (unit.map { [$0] } ?? []) {
            let isWord =
                word.utf8.first.map(Self.isLetter) == true && word.utf8.count <= MetricDeclarations.maximumWordBytes
                && word.utf8.allSatisfy { Self.isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
            guard isWord else {
                throw MetricRefusal(
                    "\"\(word.cut(toBytes: MetricDeclarations.maximumWordBytes))\" is not made of small letters, digits "
                        + "and _, beginning with a letter, at most \(MetricDeclarations.maximumWordBytes)")
            }
            guard word != "total", !word.hasSuffix("_total") else {
                throw MetricRefusal("the ending of \(word) is added to counters by itself")
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}

/// The metrics of a plugin: known by name and unit, and numbered from 1 on.
public struct MetricDeclarations: Sendable {
    /// How many a plugin may have: each is a line in every status.
    public static let capacity = 64
    /// As long may a name or a unit be, in bytes.
    static let maximumWordBytes = 64
    /// As much of a metric's sentence as is shown, in bytes: it stands in every list of metrics.
    static let maximumHelpBytes = 256

    /// All of them, in the order of their numbers.
    public private(set) var all: [MetricDeclaration] = []

    /// None.
    public init() {}

    /// Enters a metric, or finds the one of that name and unit.
    ///
    /// - Returns: its number.
    /// - Throws: ``MetricRefusal`` where the name or the unit is none, where the name stands for something else, or
    ///   where there are too many.
    public mutating func declare(_ new: MetricDeclaration) throws(MetricRefusal) -> Int {
        try new.check()
        var new = new
        new.help = new.help.cut(toBytes: Self.maximumHelpBytes)
        if let index = all.firstIndex(where: { $0.name == new.name && $0.unit == new.unit }) {
            guard all[index].kind == new.kind else {
                throw MetricRefusal("\(new.name) is a \(all[index].kind.rawValue) already")
            }
            all[index] = new
            return index + 1
        }
        guard all.count < Self.capacity else {
            throw MetricRefusal("a plugin has \(Self.capacity) metrics at most")
        }
        all.append(new)
        return all.count
    }
}

/// Why a metric cannot be published, as the end of a sentence.
public struct MetricRefusal: Error, Sendable, CustomStringConvertible {
    /// The sentence's end.
    public let description: String

    init(_ description: String) { self.description = description }
}
