import Glibc

/// A descriptor that came with the process, from a socket unit or out of the descriptor store. Closed with this value,
/// unless it was released. Not bound to a thread.
public struct InheritedDescriptor: ~Copyable, Sendable {
    /// Its name: `FileDescriptorName=` of a socket unit, or the name by which it was stored.
    public let name: String
    private let owned: OwnedDescriptor

    init(name: String, descriptor: Int32) {
        self.name = name
        owned = OwnedDescriptor(number: descriptor)
    }

    /// The descriptor; valid as long as this value lives. Closed on exec.
    public var descriptor: Int32 { owned.number }

    /// Gives the descriptor to the caller, who closes it.
    public consuming func release() -> Int32 { owned.release() }
}

/// Closes what it holds. Apart from the name, because a value can be given away only where nothing else is in it.
private struct OwnedDescriptor: ~Copyable, Sendable {
    let number: Int32

    deinit { close(number) }

    consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }
}

/// The descriptors that came with the process and that have not been taken yet, in the order in which the manager gave
/// them. Closed with this value.
public struct InheritedDescriptors: ~Copyable, Sendable {
    private var waiting: [(name: String, descriptor: Int32)]

    /// None.
    public init() { waiting = [] }

    init(_ waiting: [(name: String, descriptor: Int32)]) { self.waiting = waiting }

    deinit { for entry in waiting { close(entry.descriptor) } }

    /// Whether all have been taken.
    public var isEmpty: Bool { waiting.isEmpty }

    /// The names of those that are left.
    public var names: [String] { waiting.map(\.name) }

    /// Takes the first one whose name is wanted out; nil: there is none.
    public mutating func take(where isWanted: (String) -> Bool = { _ in true }) -> InheritedDescriptor? {
        guard let index = waiting.firstIndex(where: { isWanted($0.name) }) else { return nil }
        let entry = waiting.remove(at: index)
        return InheritedDescriptor(name: entry.name, descriptor: entry.descriptor)
    }
}
