import TaskKit

/// The owner of records: a user id and the origin that its session represents.
struct Namespace: Hashable, Sendable {
    var uid: UInt32
    var origin: ExactText

    init(uid: UInt32, origin: String) {
        self.uid = uid
        self.origin = ExactText(origin)
    }

    /// Parses "UID:ORIGIN", such as `1000:local`; `nil` if the text does not have that form. The origin may contain
    /// colons. Each namespace has exactly one text, because the policy's rules compare it: leading zeros are rejected.
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

/// Creates namespaces, and keeps the last one: the next call most likely comes from the same user.
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
