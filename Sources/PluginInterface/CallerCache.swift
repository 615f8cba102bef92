public import CTaskPlugin

/// What has been made of callers' identities, kept from call to call: a slot for each session, of as many as there are.
/// Not thread-safe.
///
/// What is asked with every call of a plugin is public and inlined: generic code of another module, and inlinable code
/// with `package`, looks the entry's type up each time, which takes a thousand instructions.
public final class CallerCache<Tag: Equatable, Value> {
    @usableFromInline
    struct Entry {
        @usableFromInline var session: UInt64
        /// What the value was made of.
        @usableFromInline var tag: Tag
        @usableFromInline var value: Value

        @usableFromInline
        init(session: UInt64, tag: Tag, value: Value) { (self.session, self.tag, self.value) = (session, tag, value) }
    }

    /// Sessions are numbered in sequence, so that as many active ones as there are slots do not get into each other's
    /// way; beyond, values are made more often.
    @usableFromInline let mask: Int
    @usableFromInline let entries: UnsafeMutablePointer<Entry?>

    /// - Parameter slots: A power of two.
    public init(slots: Int = 64) {
        mask = slots - 1
        entries = .allocate(capacity: slots)
        entries.initialize(repeating: nil, count: slots)
    }

    deinit {
        entries.deinitialize(count: mask + 1)
        entries.deallocate()
    }

    /// What was made for the session; nil: nothing, or of something else.
    @inlinable @inline(__always)
    public func value(of session: UInt64, _ tag: Tag) -> Value? { value(of: session) { $0 == tag } }

    /// What was made for the session of a tag that `matches`.
    @inlinable @inline(__always)
    public func value(of session: UInt64, where matches: (Tag) -> Bool) -> Value? {
        guard let entry = entries[Int(truncatingIfNeeded: session) & mask], entry.session == session, matches(entry.tag)
        else { return nil }
        return entry.value
    }

    /// Keeps a value in the place of the one before.
    ///
    /// - Returns: That one, which may be another session's.
    public func keep(_ value: Value, of session: UInt64, _ tag: Tag) -> Value? {
        let slot = Int(truncatingIfNeeded: session) & mask
        defer { entries[slot] = Entry(session: session, tag: tag, value: value) }
        return entries[slot]?.value
    }

    /// The session is gone.
    ///
    /// - Returns: What was kept of it.
    public func remove(_ session: UInt64) -> Value? {
        let slot = Int(truncatingIfNeeded: session) & mask
        guard let entry = entries[slot], entry.session == session else { return nil }
        entries[slot] = nil
        return entry.value
    }

    /// All values, each once.
    public func removeAll() -> [Value] {
        (0...mask).compactMap { slot in
            defer { entries[slot] = nil }
            return entries[slot]?.value
        }
    }
}

/// Who calls, in the plugin interface's form, kept from call to call: the plugin gets a pointer to a description that
/// is made when a session calls first, and again when it has changed. Not thread-safe.
public final class ForeignCallers<Tag: Equatable> {
    @usableFromInline let cache = CallerCache<Tag, UnsafeMutablePointer<trestle_caller>>()
    /// A description's revision is its number among those that this plugin was given.
    private var lastRevision: UInt64 = 0
    /// Replaced, while a function of the plugin may still be looking at them: one can lead to another within itself.
    private var retired: [UnsafeMutablePointer<trestle_caller>] = []
    /// Whether there are such. A method's answer, because another module that accesses a property checks exclusivity.
    public var hasRetired: Bool { holdsRetired }
    @exclusivity(unchecked) private var holdsRetired = false

    /// Without descriptions.
    public init() {}

    deinit {
        for descriptor in cache.removeAll() { ForeignCaller.free(descriptor) }
        freeRetired()
    }

    /// The description of a session. Valid until ``freeRetired()``.
    @inlinable @inline(__always)
    public func descriptor(of session: UInt64, _ tag: Tag) -> UnsafePointer<trestle_caller>? {
        descriptor(of: session) { $0 == tag }
    }

    /// The description of a session, made of a tag that `matches`. Valid until ``freeRetired()``.
    @inlinable @inline(__always)
    public func descriptor(of session: UInt64, where matches: (Tag) -> Bool) -> UnsafePointer<trestle_caller>? {
        cache.value(of: session, where: matches).map { UnsafePointer($0) }
    }

    /// Makes a description in the place of the one before. Valid until ``freeRetired()``.
    ///
    /// - Parameter caller: All of it but its revision and the texts, which are put in.
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

    /// The session is gone.
    public func forget(_ session: UInt64) {
        if let descriptor = cache.remove(session) { retire(descriptor) }
    }

    private func retire(_ descriptor: UnsafeMutablePointer<trestle_caller>) {
        retired.append(descriptor)
        holdsRetired = true
    }

    /// No function of the plugin is on the stack: descriptions that have been replaced are no longer read.
    public func freeRetired() {
        guard holdsRetired else { return }
        holdsRetired = false
        for descriptor in retired { ForeignCaller.free(descriptor) }
        retired.removeAll()
    }
}
