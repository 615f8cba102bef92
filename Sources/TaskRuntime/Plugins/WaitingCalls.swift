/// The calls of a plugin that wait: a change touches a few of them, however many there are. Loop thread only.
///
/// Each session has a line. The first call of a line may begin next, and so may every call that keeps no order: these
/// are candidates, each in the list of what it waits for. All others wait for calls before them.
struct WaitingCalls {
    private(set) var count = 0
    private var all = CallList(.waiting)
    private var lines: [UInt64: CallList] = [:]
    private var due = CallList(.candidate)
    private var processless = CallList(.candidate)
    private var unread = CallList(.candidate)
    /// Tasks of which calls wait, and more may begin.
    private var roomy: [TaskEntry] = []
    /// Whether those who wait for a process may find one.
    private var looksForProcess = false
    /// How many candidates were looked at so far. For tests.
    private(set) var visits = 0

    var isEmpty: Bool { count == 0 }
    /// How many sessions wait.
    var lineCount: Int { lines.count }
    /// The oldest call.
    var first: Call? { all.first }
    /// Whether candidates are to be looked at.
    var hasDue: Bool { !due.isEmpty || !roomy.isEmpty || looksForProcess }

    func next(after call: Call) -> Call? { all.next(after: call) }
    /// Whether calls of the call's session wait.
    func hasLine(of call: Call) -> Bool { lines[call.lineNumber] != nil }
    /// Whether none of its session waits before it.
    func isFirstOfLine(_ call: Call) -> Bool { lines[call.lineNumber]?.first == call }

    /// Enters a call behind all others. It is no candidate.
    mutating func append(_ call: Call) {
        count += 1
        all.append(call)
        lines[call.lineNumber, default: CallList(.line)].append(call)
    }

    /// Takes a call out.
    ///
    /// - Returns: the call of its session that no longer waits for another.
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

    /// Makes a call a candidate that waits for this; nil: it is none.
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

    /// The next candidate that may find room.
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

    /// A candidate found no process: nor do the others of its task, nor those who wait for one already.
    mutating func noteNoProcess(for task: TaskEntry) {
        looksForProcess = false
        if roomy.last === task { close(task) }
    }

    private mutating func close(_ task: TaskEntry) {
        roomy.removeLast()
        task.isRoomy = false
    }

    /// A call of the task has ended, or its calls may find a process.
    mutating func noteRoom(of task: TaskEntry) {
        guard !task.isRoomy, !task.blocked.isEmpty else { return }
        task.isRoomy = true
        roomy.append(task)
    }

    /// There may be a process, or one has read on. The latter concerns as many sessions as there are processes.
    mutating func noteProcess() {
        looksForProcess = !processless.isEmpty
        while let call = unread.first { put(call, waitingFor: .turn) }
    }

    /// A session has a process of its own now: those of its calls that wait for one may begin. Once for each process
    /// that a session gets.
    mutating func noteProcess(of session: UInt64) {
        var next = processless.isEmpty ? nil : lines[session]?.first
        while let call = next {
            visits += 1
            next = lines[session]?.next(after: call)
            if call.extras.waitsFor == .process { put(call, waitingFor: .turn) }
        }
    }

    /// The plugin is no longer known.
    mutating func forgetTasks() { while let task = roomy.last { close(task) } }
}

extension Call {
    /// The session in whose line it waits. The calls of the daemon and of plugins in their own name share one.
    fileprivate var lineNumber: UInt64 { session?.number ?? 0 }
}
