import Glibc

/// A descriptor that the process inherited, from a socket unit or from the descriptor store. Closed with this value,
/// unless it was released. Not bound to a thread.
public struct InheritedDescriptor: ~Copyable, Sendable {
    /// The name: `FileDescriptorName=` of a socket unit, or the name under which it was stored.
    public let name: String
    private let owned: OwnedDescriptor

    init(name: String, descriptor: Int32) {
        self.name = name
        owned = OwnedDescriptor(number: descriptor)
    }

    /// The descriptor; valid while this value exists. Closed on exec.
    public var descriptor: Int32 { owned.number }

    /// Transfers the descriptor to the caller, which must close it.
    public consuming func release() -> Int32 { owned.release() }
}

/// Closes its descriptor. A separate type, because `discard self` requires that all stored properties are trivial.
private struct OwnedDescriptor: ~Copyable, Sendable {
    let number: Int32

    deinit { close(number) }

    consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }
}

/// The inherited descriptors that have not been taken yet, in the order of the manager. Closed with this value.
public struct InheritedDescriptors: ~Copyable, Sendable {
    private var waiting: [(name: String, descriptor: Int32)]

    /// Creates an empty list.
    public init() { waiting = [] }

    init(_ waiting: [(name: String, descriptor: Int32)]) { self.waiting = waiting }

    deinit { for entry in waiting { close(entry.descriptor) } }

    /// Whether all have been taken.
    public var isEmpty: Bool { waiting.isEmpty }

    /// The names of the remaining descriptors.
    public var names: [String] { waiting.map(\.name) }

    /// Removes and returns the first one whose name fulfils the condition; `nil` if there is none.
    public mutating func take(where isWanted: (String) -> Bool = { _ in true }) -> InheritedDescriptor? {
        guard let index = waiting.firstIndex(where: { isWanted($0.name) }) else { return nil }
        let entry = waiting.remove(at: index)
        return InheritedDescriptor(name: entry.name, descriptor: entry.descriptor)
    }
}
