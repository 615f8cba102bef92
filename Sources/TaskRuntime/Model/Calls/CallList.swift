/// A list of related calls, the oldest first. The calls are linked through their records: a call enters and leaves in a
/// few stores, and the calls of one session are found without a search of all calls. Loop thread only.
struct CallList {
    /// The kind of a list, which selects the links in the call's record. A call can be in one list of each kind.
    enum Kind {
        /// The calls that a session has made.
        case made
        /// The calls that a session works on.
        case provided
        /// The calls that wait for a plugin.
        case waiting
        /// The calls of one session that wait for a plugin.
        case line
        /// The waiting calls that may begin next and wait for the same thing.
        case candidate
    }

    private let kind: Kind
    private var last: UnsafeMutablePointer<CallRecord>?
    private var head: UnsafeMutablePointer<CallRecord>?

    init(_ kind: Kind) { self.kind = kind }

    /// The oldest call; `nil` if the list is empty.
    var first: Call? { head.map { Call(record: $0) } }
    var isEmpty: Bool { head == nil }

    /// Returns the call after one that is in this list; `nil` after the last.
    func next(after call: Call) -> Call? { links(of: call.record).next.map { Call(record: $0) } }

    /// Appends a call that is in no list of this kind.
    mutating func append(_ call: Call) {
        setLinks(CallLinks(previous: last, next: nil), of: call.record)
        if let last {
            var links = links(of: last)
            links.next = call.record
            setLinks(links, of: last)
        } else {
            head = call.record
        }
        last = call.record
    }

    /// Removes a call that is in this list.
    mutating func remove(_ call: Call) {
        let (previous, next) = (links(of: call.record).previous, links(of: call.record).next)
        if let previous {
            var links = links(of: previous)
            links.next = next
            setLinks(links, of: previous)
        } else {
            head = next
        }
        if let next {
            var links = links(of: next)
            links.previous = previous
            setLinks(links, of: next)
        } else {
            last = previous
        }
    }

    @inline(__always)
    private func links(of record: UnsafeMutablePointer<CallRecord>) -> CallLinks {
        switch kind {
        case .made: record.pointee.madeLinks
        case .provided: record.pointee.providedLinks
        case .waiting: Call(record: record).extras.waitingLinks
        case .line: Call(record: record).extras.lineLinks
        case .candidate: Call(record: record).extras.candidateLinks
        }
    }

    @inline(__always)
    private func setLinks(_ links: CallLinks, of record: UnsafeMutablePointer<CallRecord>) {
        switch kind {
        case .made: record.pointee.madeLinks = links
        case .provided: record.pointee.providedLinks = links
        case .waiting: Call(record: record).extras.waitingLinks = links
        case .line: Call(record: record).extras.lineLinks = links
        case .candidate: Call(record: record).extras.candidateLinks = links
        }
    }
}

/// A call's neighbours in a list.
struct CallLinks {
    var previous: UnsafeMutablePointer<CallRecord>?
    var next: UnsafeMutablePointer<CallRecord>?
}
