public import CTaskPlugin

/// A cache of values made from callers' identities, with a fixed number of slots that sessions share. Not thread-safe.
///
/// The functions that run with every call of a plugin are public and inlined: generic code of another module, and
/// inlinable code with `package`, looks up the entry's type each time, which takes a thousand instructions.
public final class CallerCache<Tag: Equatable, Value> {
    @usableFromInline
    struct Entry {
        @usableFromInline var session: UInt64
        /// The identity that the value was made from.
        @usableFromInline var tag: Tag
        @usableFromInline var value: Value

        @usableFromInline
        init(session: UInt64, tag: Tag, value: Value) { (self.session, self.tag, self.value) = (session, tag, value) }
    }

    /// The mask that maps a session's number to its slot. Sessions are numbered in sequence, so as many consecutive
    /// sessions as slots do not collide. With more active sessions, values are made more often.
    @usableFromInline let mask: Int
    @usableFromInline let entries: UnsafeMutablePointer<Entry?>

    /// An empty cache.
    ///
    /// - Parameter slots: The number of slots, a power of two.
    public init(slots: Int = 64) {
        mask = slots - 1
        entries = .allocate(capacity: slots)
        entries.initialize(repeating: nil, count: slots)
    }

    deinit {
        entries.deinitialize(count: mask + 1)
        entries.deallocate()
    }

    /// Returns the value of the session; `nil` if there is none, or if it was made from another tag.
    @inlinable @inline(__always)
    public func value(of session: UInt64, _ tag: Tag) -> Value? { value(of: session) { $0 == tag } }

    /// Returns the value of the session if its tag `matches`; `nil` otherwise.
    @inlinable @inline(__always)
    public func value(of session: UInt64, where matches: (Tag) -> Bool) -> Value? {
        guard let entry = entries[Int(truncatingIfNeeded: session) & mask], entry.session == session, matches(entry.tag)
        else { return nil }
        return entry.value
    }

    /// Stores a value and replaces the previous one in its slot.
    ///
    /// - Returns: The previous value, which may belong to another session; `nil` if there was none.
    public func keep(_ value: Value, of session: UInt64, _ tag: Tag) -> Value? {
        let slot = Int(truncatingIfNeeded: session) & mask
        defer { entries[slot] = Entry(session: session, tag: tag, value: value) }
        return entries[slot]?.value
    }

    /// Removes the value of a session that has ended.
    ///
    /// - Returns: The value; `nil` if there was none.
    public func remove(_ session: UInt64) -> Value? {
        let slot = Int(truncatingIfNeeded: session) & mask
        guard let entry = entries[slot], entry.session == session else { return nil }
        entries[slot] = nil
        return entry.value
    }

    /// Removes and returns all values.
    public func removeAll() -> [Value] {
        (0...mask).compactMap { slot in
            defer { entries[slot] = nil }
            return entries[slot]?.value
        }
    }
}

/// A cache of callers' descriptions in the form of the plugin interface. The plugin gets a pointer to a description,
/// which is made at the first call of a session and after each change of its identity. Not thread-safe.
public final class ForeignCallers<Tag: Equatable> {
    @usableFromInline let cache = CallerCache<Tag, UnsafeMutablePointer<trestle_caller>>()
    /// The revision of the last description. Revisions number the descriptions that this plugin has got.
    private var lastRevision: UInt64 = 0
    /// The replaced descriptions. A function of the plugin on the stack may still use them, because calls can be
    /// nested.
    private var retired: [UnsafeMutablePointer<trestle_caller>] = []
    /// Whether replaced descriptions exist. It is computed, because access to a stored property of another module
    /// checks exclusivity.
    public var hasRetired: Bool { holdsRetired }
    @exclusivity(unchecked) private var holdsRetired = false

    /// An empty cache.
    public init() {}

    deinit {
        for descriptor in cache.removeAll() { ForeignCaller.free(descriptor) }
        freeRetired()
    }

    /// Returns the description of a session; `nil` if there is none with this tag. Valid until ``freeRetired()``.
    @inlinable @inline(__always)
    public func descriptor(of session: UInt64, _ tag: Tag) -> UnsafePointer<trestle_caller>? {
        descriptor(of: session) { $0 == tag }
    }

    /// Returns the description of a session if its tag `matches`; `nil` otherwise. Valid until ``freeRetired()``.
    @inlinable @inline(__always)
    public func descriptor(of session: UInt64, where matches: (Tag) -> Bool) -> UnsafePointer<trestle_caller>? {
        cache.value(of: session, where: matches).map { UnsafePointer($0) }
    }

    /// Makes a description that replaces the previous one. Valid until ``freeRetired()``.
    ///
    /// - Parameter caller: The description without revision and texts, which this adds.
    public func make(
        _ caller: trestle_caller, _ tag: Tag, origin: String, user: String?, client: String?
    ) -> UnsafePointer<trestle_caller> {
        lastRevision += 1
        var caller = caller
        caller.revision = lastRevision
        let descriptor = ForeignCaller.make(caller, origin: origin, user: user, client: client)
        if let old = cache.keep(descriptor, of: caller.session, tag) { retire(old) }
        return UnsafePointer(descriptor)
    }

    /// Removes the description of a session that has ended.
    public func forget(_ session: UInt64) {
        if let descriptor = cache.remove(session) { retire(descriptor) }
    }

    private func retire(_ descriptor: UnsafeMutablePointer<trestle_caller>) {
        retired.append(descriptor)
        holdsRetired = true
    }

    /// Frees replaced descriptions. Called when no function of the plugin is on the stack, so that none reads them.
    public func freeRetired() {
        guard holdsRetired else { return }
        holdsRetired = false
        for descriptor in retired { ForeignCaller.free(descriptor) }
        retired.removeAll()
    }
}
