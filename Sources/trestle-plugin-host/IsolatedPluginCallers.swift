import BridgeJSON
import CTaskPlugin
import Glibc
import PluginInterface

/// Who calls, in the plugin interface's form, made of what the daemon says, and kept from call to call. Loop thread
/// only.
struct IsolatedPluginCallers {
    private struct Entry {
        var text: [UInt8]
        var descriptor: UnsafeMutablePointer<trestle_caller>
    }

    /// Sessions whose descriptions are kept; beyond, all are made anew.
    private static let maximum = 1024

    private var entries: [UInt64: Entry] = [:]
    private var last: (text: [UInt8], descriptor: UnsafeMutablePointer<trestle_caller>)?
    private var lastRevision: UInt64 = 0
    /// The daemon itself, which started this process and runs as the same user. For good.
    private lazy var daemon: UnsafeMutablePointer<trestle_caller> = {
        var caller = trestle_caller()
        caller.uid = geteuid()
        caller.pid = getppid()
        caller.flags = TRESTLE_CALLER_TRUSTED
        lastRevision += 1
        caller.revision = lastRevision
        return ForeignCaller.make(caller, origin: "local", user: nil, client: nil)
    }()
    /// Replaced, while a function of the plugin may still be looking at them.
    private var retired: [UnsafeMutablePointer<trestle_caller>] = []

    /// The description of a caller, as the daemon wrote it; where it wrote none, it calls itself. Valid until
    /// ``freeRetired()``.
    mutating func descriptor(_ text: UnsafeRawBufferPointer) -> UnsafePointer<trestle_caller> {
        guard !text.isEmpty else { return UnsafePointer(daemon) }
        // One after the other they are mostly the same one's.
        if let last, text.isEqual(to: last.text) { return UnsafePointer(last.descriptor) }
        let caller = (try? JSON(parsing: text)) ?? .null
        let session = UInt64(clamping: caller["session"]?.int64Value ?? 0)
        if let entry = entries[session], text.isEqual(to: entry.text) {
            last = (entry.text, entry.descriptor)
            return UnsafePointer(entry.descriptor)
        }
        if let entry = entries.removeValue(forKey: session) { retired.append(entry.descriptor) }
        if entries.count >= Self.maximum {
            retired += entries.values.map(\.descriptor)
            entries = [:]
        }
        let entry = Entry(text: Array(text), descriptor: make(caller, session))
        entries[session] = entry
        last = (entry.text, entry.descriptor)
        return UnsafePointer(entry.descriptor)
    }

    /// The session is gone.
    mutating func forget(_ caller: JSON) {
        let session = UInt64(clamping: caller["session"]?.int64Value ?? 0)
        guard let entry = entries.removeValue(forKey: session) else { return }
        last = nil
        retired.append(entry.descriptor)
    }

    /// No function of the plugin is on the stack.
    mutating func freeRetired() {
        guard !retired.isEmpty else { return }
        for descriptor in retired { ForeignCaller.free(descriptor) }
        retired = []
    }

    private mutating func make(_ description: JSON, _ session: UInt64) -> UnsafeMutablePointer<trestle_caller> {
        var caller = trestle_caller()
        caller.session = session
        caller.uid = UInt32(clamping: description["uid"]?.int64Value ?? Int64(UInt32.max))
        caller.gid = UInt32(clamping: description["gid"]?.int64Value ?? Int64(UInt32.max))
        caller.pid = Int32(clamping: description["pid"]?.int64Value ?? 0)
        caller.flags = description["trusted"] == true ? TRESTLE_CALLER_TRUSTED : 0
        lastRevision += 1
        caller.revision = lastRevision
        return ForeignCaller.make(
            caller, origin: description["origin"]?.stringValue ?? "", user: description["user"]?.stringValue,
            client: description["client"]?.stringValue)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these are the same bytes: with one comparison, because this is asked with every call.
    func isEqual(to bytes: [UInt8]) -> Bool {
        guard count == bytes.count else { return false }
        return bytes.withUnsafeBytes { other in
            guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
            return memcmp(start, otherStart, count) == 0
        }
    }
}
