/// Containers of the root of a text, each made once for its type of keys and lent to one text after the other: making
/// one goes through Swift's tables of generic types, which takes longer than to read or write a small object.
///
/// What a container refers to, its owner, is the same for all texts and owns the containers in turn. So the references
/// from containers to the owner are not counted as long as the containers are held: `hold` and `release`.
struct HeldContainers: ~Copyable {
    private struct Entry {
        let keys: ObjectIdentifier
        let container: Held
    }

    private var entries: [Entry] = []
    /// Those that have been lent, a bit each.
    private var lent: UInt64 = 0

    /// Other types of keys are served without.
    private static let maximumCount = UInt64.bitWidth

    var isFull: Bool { entries.count == Self.maximumCount }

    /// The container for a type of keys, a `HeldContainer` of it.
    @inline(__always)
    mutating func lend(for keys: ObjectIdentifier) -> Held? {
        for index in entries.indices where entries[index].keys == keys {
            lent |= 1 << UInt64(index)
            return entries[index].container
        }
        return nil
    }

    /// Holds a container that refers to the owner once, and counts as lent.
    mutating func hold<Container>(_ container: Container, for keys: ObjectIdentifier, of owner: AnyObject) {
        // A container of the standard library is a struct of one reference, to a box; else whether it was kept by
        // somebody could not be told.
        guard !isFull, MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size else { return }
        lent |= 1 << UInt64(entries.count)
        entries.append(Entry(keys: keys, container: HeldContainer(container)))
        // The container's reference to the owner, which keeps itself alive here: its caller has one.
        Unmanaged.passUnretained(owner).release()
    }

    /// Takes back what was lent; false where somebody has kept a part of that.
    mutating func takeBack() -> Bool {
        defer { lent = 0 }
        return entries.withUnsafeBufferPointer { entries in
            while lent != 0 {
                guard entries[lent.trailingZeroBitCount].container.isAlone() else { return false }
                lent &= lent - 1
            }
            return true
        }
    }

    /// Lets the containers go. From here on those that somebody keeps keep the owner.
    mutating func release(of owner: AnyObject) {
        for _ in entries { _ = Unmanaged.passUnretained(owner).retain() }
        entries = []
    }
}

/// A container whose type is known where it is lent.
class Held {
    fileprivate func isAlone() -> Bool { preconditionFailure("overridden") }
}

/// Generic over the container and not over its keys, because so nothing needs to be looked up to lend it.
final class HeldContainer<Container>: Held {
    /// `@exclusivity(unchecked)`: no access lasts longer than one of the functions here.
    @exclusivity(unchecked) private var container: Container

    fileprivate init(_ container: Container) {
        self.container = container
    }

    func lend() -> Container { container }

    fileprivate override func isAlone() -> Bool {
        // `hold` has seen to it that the container is one reference.
        withUnsafeMutablePointer(to: &container) { container in
            isKnownUniquelyReferenced(
                &UnsafeMutableRawPointer(container).assumingMemoryBound(to: AnyObject.self).pointee)
        }
    }
}
