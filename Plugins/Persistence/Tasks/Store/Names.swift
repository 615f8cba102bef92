import TaskKit

/// Who owns records: a user id and what its session speaks for.
struct Namespace: Hashable, Sendable {
    var uid: UInt32
    var origin: ExactText

    init(uid: UInt32, origin: String) {
        self.uid = uid
        self.origin = ExactText(origin)
    }

    /// Reads "UID:ORIGIN", such as `1000:local`; nil where it is not of that form. The origin may hold colons. There is
    /// one text for each namespace, which the policy's rules go by: no zeros stand before the number.
    init?(parsing text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, (1...Limits.originBytes).contains(parts[1].count), !parts[0].isEmpty,
            parts[0].allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            parts[0].count == 1 || parts[0].first != UInt8(ascii: "0"),
            let uid = UInt32(String(decoding: parts[0], as: UTF8.self))
        else { return nil }
        self.init(uid: uid, origin: String(decoding: parts[1], as: UTF8.self))
    }

    var text: String { "\(uid):\(origin.text)" }
}

/// Makes namespaces, and keeps the last: the user that was served last most likely is served next.
///
/// Used by one thread at a time.
final class NamespaceMemory {
    private var last: Namespace?

    func namespace(uid: UInt32, origin: String) -> Namespace {
        if let last, last.uid == uid, last.origin.equals(origin) { return last }
        let namespace = Namespace(uid: uid, origin: origin)
        last = namespace
        return namespace
    }
}

/// A named table of a namespace.
struct TablePath: Hashable, Sendable {
    var namespace: Namespace
    var table: ExactText
}

/// One change of one record, as the feed has it.
struct Change: Sendable, Equatable {
    enum Kind: String, Sendable, Codable, CaseIterable {
        case create
        case update
        case delete
    }

    var path: TablePath
    var key: ExactText
    var version: Int64
    var kind: Kind
    /// The version that the record had before; 0: it did not exist.
    var previousVersion: Int64
}
