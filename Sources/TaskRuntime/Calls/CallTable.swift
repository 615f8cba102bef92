import BridgeJSON
import BridgeMessage

/// Every call in flight. The only place where a call ends, and so the place that keeps the law of the bridge: one
/// terminal callback for each call, never none, never two.
///
/// A call is entered by ``begin(_:)`` and leaves by ``remove(_:)``, which can happen once: whoever holds the handle of a
/// call that has left gets nil for it, and drops what it wanted to say. Loop thread only.
///
/// `@exclusivity(unchecked)`, here on what every call touches: one thread uses it, and no access to it lasts while anything
/// else of it is called, so that the checks, a large part of a call's cost, would find nothing.
final class CallTable {
    /// Records stay where they are: they are made in blocks of this many, and the blocks are kept.
    private static let blockBits = 6
    private static let blockCount = 1 << blockBits

    @exclusivity(unchecked) private var blocks: [UnsafeMutablePointer<CallRecord>] = []
    @exclusivity(unchecked) private var slotCount = 0
    /// The first of the unused records, by its slot; -1: all are in use.
    @exclusivity(unchecked) private var firstFree = -1
    @exclusivity(unchecked) private var lastNumber: UInt64 = 0
    private var lastSerial: UInt64 = 0
    @exclusivity(unchecked) private(set) var deadlines = DeadlineHeap()

    /// How many calls there have been: each has a number.
    var begunCount: UInt64 { lastNumber }
    /// How many calls are in flight.
    @exclusivity(unchecked) private(set) var count = 0

    deinit {
        for slot in 0..<slotCount { record(slot).deinitialize(count: 1) }
        for block in blocks { block.deallocate() }
    }

    @inline(__always)
    private func record(_ slot: Int) -> UnsafeMutablePointer<CallRecord> {
        blocks[slot &>> Self.blockBits] + slot & (Self.blockCount - 1)
    }

    /// Enters a call.
    @inline(__always)
    func begin(_ request: CallRequest) -> Call {
        let record = takeFree()
        lastNumber += 1
        count += 1
        record.pointee.handle = record.pointee.handle.next
        record.pointee.state = .waiting
        record.pointee.number = lastNumber
        record.pointee.origin = request.origin
        record.pointee.task = request.task
        record.pointee.session = request.session
        record.pointee.wantsProgress = request.wantsProgress
        record.pointee.dialect = request.dialect
        record.pointee.startedAt = request.startedAt
        record.pointee.deadline = request.deadline
        record.pointee.nextSequence = 0
        record.pointee.id.forget()
        return Call(record: record)
    }

    @inline(__always)
    private func takeFree() -> UnsafeMutablePointer<CallRecord> {
        guard firstFree >= 0 else { return make() }
        let record = record(firstFree)
        firstFree = record.pointee.nextFree
        return record
    }

    private func make() -> UnsafeMutablePointer<CallRecord> {
        if slotCount == blocks.count << Self.blockBits { blocks.append(.allocate(capacity: Self.blockCount)) }
        let made = record(slotCount)
        made.initialize(to: CallRecord(slot: slotCount))
        slotCount += 1
        return made
    }

    /// The call of a handle, while it is in flight.
    @inline(__always)
    func call(_ handle: CallHandle) -> Call? {
        let slot = handle.slot
        guard slot < slotCount else { return nil }
        let record = record(slot)
        return record.pointee.handle == handle && record.pointee.state != .free ? Call(record: record) : nil
    }

    // MARK: Calls that clients work on

    /// The lower bits of the id under which a client knows a call: its slot, for more calls than all sessions together
    /// may have. The bits above count the calls that were handed to clients; an id stays below 2^53, as far as programs
    /// read integers whose numbers are doubles.
    private static let slotBits: UInt64 = 24
    private static let serialLimit: UInt64 = 1 << 29

    /// Notes that a session works on the call from now on.
    ///
    /// - Returns: the id for the session, never one of a call that it may still be working on.
    func hand(_ call: Call, to session: Session) -> UInt64 {
        lastSerial = lastSerial + 1 < Self.serialLimit ? lastSerial + 1 : 1
        let id = lastSerial << Self.slotBits | UInt64(call.handle.slot)
        call.record.pointee.provider = .passUnretained(session)
        call.record.pointee.providerID = id
        session.forwardedCount += 1
        return id
    }

    /// The call that the session works on under this id.
    func call(_ id: UInt64, of session: Session) -> Call? {
        let slot = Int(truncatingIfNeeded: id & (1 << Self.slotBits - 1))
        guard slot < slotCount else { return nil }
        let record = record(slot)
        let call = Call(record: record)
        return record.pointee.providerID == id && call.state != .free && call.isHanded(to: session) ? call : nil
    }

    // MARK: Deadlines and ends

    /// A call that did not end in the turn in which it came: from now on its deadline counts.
    func park(_ call: Call) {
        if call.deadline != .never, call.record.pointee.heapIndex < 0 { deadlines.insert(call) }
    }

    /// Takes a call out for good: from here on no handle leads to it. Whoever calls this tells the caller of the end,
    /// and then gives the call back with ``release(_:)``.
    @inline(__always)
    func remove(_ call: Call) {
        precondition(call.state != .free, "a call ends once")
        call.state = .free
        if call.record.pointee.heapIndex >= 0 { deadlines.remove(call) }
        count -= 1
    }

    /// Gives a removed call back to the stock.
    @inline(__always)
    func release(_ call: Call) {
        call.record.pointee.task = nil
        call.record.pointee.session = nil
        if call.hasExtras { call.record.pointee.extras = nil }
        call.record.pointee.nextFree = firstFree
        firstFree = call.handle.slot
    }

    /// The earliest call whose deadline has come.
    func popExpired(at now: RuntimeInstant) -> Call? { deadlines.popExpired(at: now) }

    /// All calls in flight, the oldest first.
    var inFlight: [Call] {
        (0..<slotCount).lazy.map { Call(record: self.record($0)) }.filter { $0.state != .free }
            .sorted { $0.number < $1.number }
    }
}
