/// The waiting calls of a plugin. A change touches only a few of them, however many there are. Loop thread only.
///
/// Each session has a line. The first call of a line may begin next, and so may every call that is not ordered: these
/// are candidates, each in the list of the thing that it waits for. All others wait for calls before them.
struct WaitingCalls {
    private(set) var count = 0
    private var all = CallList(.waiting)
    private var lines: [UInt64: CallList] = [:]
    private var due = CallList(.candidate)
    private var processless = CallList(.candidate)
    private var unread = CallList(.candidate)
    /// Tasks that have waiting calls and room for more running calls.
    private var roomy: [TaskEntry] = []
    /// Whether the calls that wait for a process may find one.
    private var looksForProcess = false
    /// The number of candidates examined so far. For tests.
    private(set) var visits = 0

    var isEmpty: Bool { count == 0 }
    /// The number of sessions that have waiting calls.
    var lineCount: Int { lines.count }
    /// The oldest call.
    var first: Call? { all.first }
    /// Whether there are candidates to examine.
    var hasDue: Bool { !due.isEmpty || !roomy.isEmpty || looksForProcess }

    func next(after call: Call) -> Call? { all.next(after: call) }
    /// Whether any call of the call's session waits.
    func hasLine(of call: Call) -> Bool { lines[call.lineNumber] != nil }
    /// Whether no call of its session waits before it.
    func isFirstOfLine(_ call: Call) -> Bool { lines[call.lineNumber]?.first == call }

    /// Appends a call behind all others. It is not a candidate.
    mutating func append(_ call: Call) {
        count += 1
        all.append(call)
        lines[call.lineNumber, default: CallList(.line)].append(call)
    }

    /// Removes a call.
    ///
    /// - Returns: The next call of its session if that does not wait for another any more; otherwise `nil`.
    mutating func remove(_ call: Call) -> Call? {
        put(call, waitingFor: nil)
        count -= 1
        all.remove(call)
        guard var line = lines[call.lineNumber] else { return nil }
        let wasFirst = line.first == call
        line.remove(call)
        lines[call.lineNumber] = line.isEmpty ? nil : line
        return wasFirst ? line.first : nil
    }

    /// Makes a call a candidate that waits for the given reason; `nil` makes it no candidate.
    mutating func put(_ call: Call, waitingFor reason: WaitReason?) {
        let extras = call.extras
        guard extras.waitsFor != reason else { return }
        switch extras.waitsFor {
        case .turn: due.remove(call)
        case .task: call.task?.blocked.remove(call)
        case .process: processless.remove(call)
        case .reader: unread.remove(call)
        case nil: break
        }
        extras.waitsFor = reason
        switch reason {
        case .turn: due.append(call)
        case .task: call.task?.blocked.append(call)
        case .process: processless.append(call)
        case .reader: unread.append(call)
        case nil: break
        }
    }

    // MARK: Room

    /// Returns the next candidate that may find room.
    mutating func nextCandidate() -> Call? {
        visits += 1
        if let call = due.first { return call }
        while let task = roomy.last {
            if task.runningCount < task.maximumRunning, let call = task.blocked.first { return call }
            close(task)
        }
        if looksForProcess, let call = processless.first { return call }
        looksForProcess = false
        return nil
    }

    /// Records that a candidate found no process: the others of its task, and those already waiting for a process, will
    /// not find one either.
    mutating func noteNoProcess(for task: TaskEntry) {
        looksForProcess = false
        if roomy.last === task { close(task) }
    }

    private mutating func close(_ task: TaskEntry) {
        roomy.removeLast()
        task.isRoomy = false
    }

    /// Records that a call of the task has ended, or that its calls may find a process.
    mutating func noteRoom(of task: TaskEntry) {
        guard !task.isRoomy, !task.blocked.isEmpty else { return }
        task.isRoomy = true
        roomy.append(task)
    }

    /// Records that a process may be available, or that one has read more of its input. The latter affects at most as
    /// many sessions as there are processes.
    mutating func noteProcess() {
        looksForProcess = !processless.isEmpty
        while let call = unread.first { put(call, waitingFor: .turn) }
    }

    /// Records that a session now has a process of its own: its calls that wait for a process may begin. Called once
    /// for each process that a session receives.
    mutating func noteProcess(of session: UInt64) {
        var next = processless.isEmpty ? nil : lines[session]?.first
        while let call = next {
            visits += 1
            next = lines[session]?.next(after: call)
            if call.extras.waitsFor == .process { put(call, waitingFor: .turn) }
        }
    }

    /// Clears the lists of tasks: the plugin was removed.
    mutating func forgetTasks() { while let task = roomy.last { close(task) } }
}

extension Call {
    /// The session in whose line the call waits. Calls of the daemon and of plugins in their own name share one line.
    fileprivate var lineNumber: UInt64 { session?.number ?? 0 }
}
