import BridgeJSON
import CTaskPlugin
import Glibc
import PluginInterface

/// Who calls, in the plugin interface's form, made of what the daemon says, and kept from call to call. Loop thread
/// only.
struct IsolatedPluginCallers {
    private let callers = ForeignCallers<[UInt8]>()
    /// The one that called last.
    private var last: (text: [UInt8], descriptor: UnsafePointer<trestle_caller>)?

    /// The description of a caller, as the daemon wrote it; where it wrote none, it calls itself. Valid until
    /// ``freeRetired()``.
    mutating func descriptor(_ text: UnsafeRawBufferPointer) -> UnsafePointer<trestle_caller> {
        // One after the other they are mostly the same one's.
        if let last, text.isEqual(to: last.text) { return last.descriptor }
        let text = Array(text)
        let caller = text.isEmpty ? .null : (try? JSON(parsing: text)) ?? .null
        let session = Self.session(caller)
        let descriptor =
            callers.descriptor(of: session, text) ?? (text.isEmpty ? makeDaemon() : make(caller, session, text))
        last = (text, descriptor)
        return descriptor
    }

    /// The session is gone.
    mutating func forget(_ caller: JSON) {
        last = nil
        callers.forget(Self.session(caller))
    }

    /// No function of the plugin is on the stack.
    mutating func freeRetired() {
        guard callers.hasRetired else { return }
        callers.freeRetired()
    }

    private static func session(_ caller: JSON) -> UInt64 { UInt64(clamping: caller["session"]?.int64Value ?? 0) }

    private func make(_ description: JSON, _ session: UInt64, _ text: [UInt8]) -> UnsafePointer<trestle_caller> {
        var caller = trestle_caller()
        caller.session = session
        caller.uid = UInt32(clamping: description["uid"]?.int64Value ?? Int64(UInt32.max))
        caller.gid = UInt32(clamping: description["gid"]?.int64Value ?? Int64(UInt32.max))
        caller.pid = Int32(clamping: description["pid"]?.int64Value ?? 0)
        caller.flags = description["trusted"] == true ? TRESTLE_CALLER_TRUSTED : 0
        return callers.make(
            caller, text, origin: description["origin"]?.stringValue ?? "", user: description["user"]?.stringValue,
            client: description["client"]?.stringValue)
    }

    /// The daemon itself, which started this process and runs as the same user.
    private func makeDaemon() -> UnsafePointer<trestle_caller> {
        var caller = trestle_caller()
        caller.uid = geteuid()
        caller.pid = getppid()
        caller.flags = TRESTLE_CALLER_TRUSTED
        return callers.make(caller, [], origin: "local", user: nil, client: nil)
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
