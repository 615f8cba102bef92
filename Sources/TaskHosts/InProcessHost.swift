import BridgeJSON
import CTaskPlugin
import TaskRuntime

/// Runs a plugin inside the daemon: every request is a plain function call into its library, on the loop thread.
///
/// Never deallocated: the plugin holds the table that points here until the process ends.
final class InProcessHost: TaskHost {
    let isolation = "none"
    let log: HostLog

    private let table: UnsafePointer<trestle_plugin>
    /// What the plugin was given as its way back; points to this host.
    private let face: UnsafeMutablePointer<trestle_host>
    unowned let runtime: TaskRuntime
    /// The runtime's end of this host; nil before the plugin has been taken in.
    private(set) var slot: PluginSlot?
    /// The options of the request that the plugin is working on within a call of ours: handed back as a result, they
    /// need no second check.
    private(set) var currentOptions = UnsafeRawBufferPointer(start: nil, count: 0)

    init(_ library: PluginLibrary, runtime: TaskRuntime, log: HostLog) {
        table = library.table
        self.runtime = runtime
        self.log = log
        face = .allocate(capacity: 1)
        face.initialize(to: HostFace.make(context: Unmanaged.passRetained(self).toOpaque()))
    }

    /// From here on the plugin can answer.
    func attach(_ slot: PluginSlot) {
        self.slot = slot
        table.pointee.attach(table.pointee.context, face)
    }

    // MARK: To the plugin

    func perform(_ work: PluginWork, for call: Call, options: UnsafeRawBufferPointer) {
        let outer = currentOptions
        currentOptions = options
        defer { currentOptions = outer }
        let handle = call.handle
        withRequest(work, call, options) { request in
            guard send(work, request) else {
                slot?.reply(handle, Self.nothing, isChecked: true)
                return
            }
        }
    }

    /// What a function that the plugin left out is taken to have answered.
    private static var nothing: UnsafeRawBufferPointer { literal("{}") }

    /// Calls the function for this work; false where the plugin left it out.
    private func send(_ work: PluginWork, _ request: UnsafePointer<trestle_request>) -> Bool {
        // Field by field, here and wherever else a table of the interface is read: a whole struct would be copied by
        // the size that this daemon knows, and a plugin's may be shorter.
        let function =
            switch work {
            case .configure: table.pointee.configure
            case .start: table.pointee.start
            case .launch: table.pointee.launch
            case .task: table.pointee.call
            case .stop: table.pointee.stop
            }
        guard let function else { return false }
        function(table.pointee.context, request)
        return true
    }

    private func withRequest(
        _ work: PluginWork, _ call: Call, _ options: UnsafeRawBufferPointer,
        _ body: (UnsafePointer<trestle_request>) -> Void
    ) {
        var flags: UInt32 = 0
        if call.takesProgress { flags |= TRESTLE_REQUEST_PROGRESS }
        if call.isOneWay { flags |= TRESTLE_REQUEST_ONE_WAY }
        let remaining = call.remaining(at: runtime.now)
        withCaller(call.session) { caller in
            var request = trestle_request(
                size: UInt32(MemoryLayout<trestle_request>.size), abi: TRESTLE_ABI, call: call.handle.rawValue,
                index: work.index, flags: flags,
                timeout_ns: remaining.map { Int64(clamping: $0.clampedNanoseconds) } ?? -1,
                options: trestle_bytes(options), caller: caller)
            body(&request)
        }
    }

    func withCaller(_ session: Session?, _ body: (UnsafePointer<trestle_caller>) -> Void) {
        withBytes(session?.origin ?? Session.localOrigin) { origin in
            withBytes(session?.user ?? "") { user in
                withBytes(session?.client ?? "") { client in
                    let trusted = session?.isTrusted ?? true
                    var caller = trestle_caller(
                        size: UInt32(MemoryLayout<trestle_caller>.size), abi: TRESTLE_ABI,
                        session: session?.number ?? 0, uid: session?.peer.uid ?? runtime.policy.daemonUID,
                        gid: session?.peer.gid ?? 0, pid: session?.peer.pid ?? runtime.daemon.pid,
                        flags: trusted ? TRESTLE_CALLER_TRUSTED : 0, origin: origin, user: user, client: client)
                    body(&caller)
                }
            }
        }
    }

    func cancel(_ call: CallHandle, reason: CancelReason) {
        table.pointee.cancel?(table.pointee.context, call.rawValue, reason.rawValue)
    }

    func tell(_ change: SessionChange, _ session: Session) {
        guard let function = table.pointee.session else { return }
        withCaller(session) { function(table.pointee.context, change.rawValue, $0) }
    }
}

extension PluginWork {
    /// The number of the task, or of the launch worker.
    fileprivate var index: UInt32 {
        switch self {
        case .task(let index), .launch(let index): UInt32(index)
        case .configure, .start, .stop: 0
        }
    }
}
