import BridgeJSON

/// The description of a metric that a plugin publishes, before it has a value. It is the same for a plugin in the
/// daemon's process and for one in a process of its own, which sends its metrics in messages.
public struct MetricDeclaration: Sendable {
    /// The kind of a metric.
    public enum Kind: String, Sendable {
        /// The value goes up and down.
        case gauge
        /// The value only grows, from 0 at the start of the plugin.
        case counter
    }

    /// The name: lowercase letters, digits and `_`, without the unit.
    public var name: String
    /// The kind of the metric.
    public var kind: Kind
    /// A base unit such as `bytes` or `seconds`; nil for a plain count.
    public var unit: String?
    /// One sentence for a person.
    public var help: String

    /// Creates a declaration.
    public init(name: String, kind: Kind, unit: String?, help: String) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
    }

    /// Checks the words. Names become parts of names in monitoring systems, which end with the unit and `total`.
    fileprivate func check() throws(MetricRefusal) {
        for word in [name] + (unit.map { [$0] } ?? []) {
            let isWord =
                word.utf8.first.map(Self.isLetter) == true && word.utf8.count <= MetricDeclarations.maximumWordBytes
                && word.utf8.allSatisfy { Self.isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
            guard isWord else {
                throw MetricRefusal(
                    "\"\(word.cut(toBytes: MetricDeclarations.maximumWordBytes))\" must consist of lowercase letters, "
                        + "digits and _, beginning with a letter, at most \(MetricDeclarations.maximumWordBytes)")
            }
            guard word != "total", !word.hasSuffix("_total") else {
                throw MetricRefusal("\(word) must not end with total, which the daemon adds to counters")
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}

/// The metrics of a plugin: identified by name and unit, and numbered from 1.
public struct MetricDeclarations: Sendable {
    /// The maximum number of metrics of a plugin: each is a line in every status.
    public static let capacity = 64
    /// The maximum length of a name or a unit, in bytes.
    static let maximumWordBytes = 64
    /// The maximum length of a metric's sentence, in bytes: every list of metrics contains it.
    static let maximumHelpBytes = 256

    /// All metrics, in the order of their numbers.
    public private(set) var all: [MetricDeclaration] = []

    /// Creates an empty list.
    public init() {}

    /// Adds a metric, or finds the one with that name and unit.
    ///
    /// - Returns: Its number.
    /// - Throws: ``MetricRefusal`` if the name or the unit is invalid, if the name has another kind already, or if
    ///   there are too many metrics.
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

/// The reason why a metric cannot be published, as the end of a sentence.
public struct MetricRefusal: Error, Sendable, CustomStringConvertible {
    /// The reason as the end of a sentence.
    public let description: String

    init(_ description: String) { self.description = description }
}
