import BridgeJSON
import BridgeMessage

/// All calls in flight. A call can be removed only once, which guarantees the central rule of the bridge: exactly one
/// terminal callback for each call.
///
/// A call is entered by ``begin(_:)`` and removed by ``remove(_:)``. A lookup with the handle of a removed call returns
/// `nil`, so that late replies are dropped. Loop thread only.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
final class CallTable {
    /// Records do not move: they are allocated in blocks of this many, and the blocks are kept until ``trimMemory()``.
    private static let blockBits = 6
    private static let blockCount = 1 << blockBits

    @exclusivity(unchecked) private var blocks: [UnsafeMutablePointer<CallRecord>] = []
    @exclusivity(unchecked) private var slotCount = 0
    /// The slot of the first unused record; -1 if all are in use.
    @exclusivity(unchecked) private var firstFree = -1
    @exclusivity(unchecked) private var lastNumber: UInt64 = 0
    private var lastSerial: UInt64 = 0
    @exclusivity(unchecked) private(set) var deadlines = DeadlineHeap()
    @exclusivity(unchecked) private var order = CallOrder()
    /// The call that began last, which is not in the lists yet because it may end before they are read. Most calls end
    /// in this state and never enter a list.
    @exclusivity(unchecked) private var newest: UnsafeMutablePointer<CallRecord>?
    /// The generation of new records: as high as that of any freed record.
    private var firstGeneration: UInt32 = 0

    /// The number of calls that have begun since the start: each has a number.
    var begunCount: UInt64 { lastNumber }
    /// The number of calls in flight.
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
        enterNewest()
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
        newest = record
        return Call(record: record)
    }

    /// Enters the call that began last into the lists: the order of all calls, and the calls that its session made.
    @inline(__always)
    func enterNewest() {
        guard let newest else { return }
        self.newest = nil
        enter(newest)
    }

    @inline(never)
    private func enter(_ record: UnsafeMutablePointer<CallRecord>) {
        let slot = record.pointee.handle.slot
        record.pointee.orderIndex = order.append(number: record.pointee.number, slot: slot)
        guard record.pointee.origin == .session else { return }
        record.pointee.session?._withUnsafeGuaranteedRef { $0.madeCalls.append(Call(record: record)) }
    }

    @inline(never)
    private func leaveLists(_ call: Call) {
        order.remove(at: call.record.pointee.orderIndex)
        if order.hasManyGaps { closeGaps() }
        guard call.origin == .session else { return }
        call.record.pointee.session?._withUnsafeGuaranteedRef { $0.madeCalls.remove(call) }
    }

    /// Returns the oldest call in flight that a session made.
    func first(madeBy session: Session) -> Call? {
        enterNewest()
        return session.madeCalls.first
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
        made.initialize(to: CallRecord(slot: slotCount, generation: firstGeneration))
        slotCount += 1
        return made
    }

    /// Returns the call of a handle while it is in flight.
    @inline(__always)
    func call(_ handle: CallHandle) -> Call? {
        let slot = handle.slot
        guard slot < slotCount else { return nil }
        let record = record(slot)
        return record.pointee.handle == handle && record.pointee.state != .free ? Call(record: record) : nil
    }

    // MARK: Calls that clients work on

    /// The number of low bits that contain the slot in a client's id of a call: enough for all calls of all sessions.
    /// The higher bits count the calls passed to clients. An id stays below 2^53, so that programs whose numbers are
    /// doubles read it exactly.
    private static let slotBits: UInt64 = 24
    private static let serialLimit: UInt64 = 1 << 29

    /// Records that a session now works on the call.
    ///
    /// - Returns: The call's id for the session, never that of a call on which it may still be working.
    func hand(_ call: Call, to session: Session) -> UInt64 {
        lastSerial = lastSerial + 1 < Self.serialLimit ? lastSerial + 1 : 1
        let id = lastSerial << Self.slotBits | UInt64(call.handle.slot)
        call.record.pointee.provider = .passUnretained(session)
        call.record.pointee.providerID = id
        session.forwardedCount += 1
        session.providedCalls.append(call)
        return id
    }

    /// Returns the call that the session works on under this id.
    func call(_ id: UInt64, of session: Session) -> Call? {
        let slot = Int(truncatingIfNeeded: id & (1 << Self.slotBits - 1))
        guard slot < slotCount else { return nil }
        let record = record(slot)
        let call = Call(record: record)
        return record.pointee.providerID == id && call.state != .free && call.isHanded(to: session) ? call : nil
    }

    // MARK: Deadlines and ends

    /// Activates the deadline of a call that did not end in the turn in which it arrived.
    func park(_ call: Call) {
        if call.deadline != .never, !call.record.pointee.hasDeadlineEntry { deadlines.insert(call) }
    }

    /// Removes a call finally: from here on no handle refers to it. The code that calls this answers the caller, and
    /// then returns the call with ``release(_:)``.
    @inline(__always)
    func remove(_ call: Call) {
        precondition(call.state != .free, "a call ends once")
        call.state = .free
        if call.record.pointee.hasDeadlineEntry { deadlines.remove(call) }
        if newest == call.record { newest = nil } else { leaveLists(call) }
        count -= 1
    }

    /// Returns a removed call to the pool.
    @inline(__always)
    func release(_ call: Call) {
        call.record.pointee.task = nil
        call.record.pointee.session = nil
        if call.hasExtras { call.record.pointee.extras = nil }
        call.record.pointee.nextFree = firstFree
        firstFree = call.handle.slot
    }

    /// Returns the earliest call whose deadline has passed.
    func popExpired(at now: RuntimeInstant) -> Call? { deadlines.popExpired(at: now) }

    private func closeGaps() { order.close { record($0).pointee.orderIndex = $1 } }

    // MARK: All calls

    /// A copy of all calls in flight, the oldest first: the code that iterates over it may end calls.
    var inFlight: [Call] { Array(inFlight(after: 0)) }

    /// Returns the calls in flight with greater numbers, the oldest first. Valid until a call begins or ends.
    func inFlight(after number: UInt64) -> some Sequence<Call> {
        enterNewest()
        return order.entries[order.index(after: number)...].lazy.filter { $0.slot >= 0 }
            .map { Call(record: self.record(Int($0.slot))) }
    }

    /// Returns the oldest call in flight with a greater number.
    func next(after number: UInt64) -> Call? { inFlight(after: number).first { _ in true } }

    /// Returns the call in flight with this number.
    func call(numbered number: UInt64) -> Call? {
        guard number > 0 else { return nil }
        return next(after: number - 1).flatMap { $0.number == number ? $0 : nil }
    }

    // MARK: Memory

    /// The number of records that are kept: enough for one session with the maximum of calls in flight.
    private static let keptSlots = 1_024

    /// Frees the memory of records after the last one in use, except for a few. Called between turns of the loop, when
    /// code holds only handles, no calls.
    func trimMemory() {
        enterNewest()
        closeGaps()
        deadlines.trimMemory()
        guard slotCount > Self.keptSlots else { return }
        let lastUsed = order.entries.reduce(0) { max($0, Int($1.slot)) }
        let keptBlocks = (max(lastUsed + 1, Self.keptSlots) + Self.blockCount - 1) >> Self.blockBits
        guard keptBlocks < blocks.count else { return }
        for slot in keptBlocks << Self.blockBits..<slotCount {
            // The handle of an ended call must never refer to a later call in its slot.
            firstGeneration = max(firstGeneration, record(slot).pointee.handle.generation)
            record(slot).deinitialize(count: 1)
        }
        for block in blocks[keptBlocks...] { block.deallocate() }
        blocks = Array(blocks[..<keptBlocks])
        slotCount = keptBlocks << Self.blockBits
        firstFree = -1
        for slot in (0..<slotCount).reversed() where record(slot).pointee.state == .free {
            record(slot).pointee.nextFree = firstFree
            firstFree = slot
        }
    }

    /// The number of records, in use or not.
    var recordCount: Int { slotCount }
}
