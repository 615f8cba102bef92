import BridgeJSON
import CTaskPlugin
import Glibc
import PluginInterface

/// Who calls, in the plugin interface's form, made of what the daemon says, and kept from call to call. Loop thread
/// only.
struct IsolatedPluginCallers {
    private let callers = ForeignCallers<[UInt8]>()

    /// The description of a caller, as the daemon wrote it; where it wrote none, it calls itself. Valid until
    /// ``freeRetired()``.
    func descriptor(_ text: UnsafeRawBufferPointer) -> UnsafePointer<trestle_caller> {
        if let known = callers.descriptor(of: Self.session(text), where: text.isEqual) { return known }
        let bytes = Array(text)
        return bytes.isEmpty ? makeDaemon() : make((try? JSON(parsing: bytes)) ?? .null, bytes)
    }

    /// The session is gone.
    func forget(_ caller: JSON) {
        callers.forget(Self.session(caller))
    }

    /// No function of the plugin is on the stack.
    func freeRetired() {
        guard callers.hasRetired else { return }
        callers.freeRetired()
    }

    private static func session(_ caller: JSON) -> UInt64 { UInt64(clamping: caller["session"]?.int64Value ?? 0) }

    private static let beginning = Array(#"{"session":"#.utf8)

    /// The session of a description, which begins with its number: parsing the whole would cost more than the call. Of
    /// another text 0, under which only the daemon is known.
    private static func session(_ text: UnsafeRawBufferPointer) -> UInt64 {
        guard UnsafeRawBufferPointer(rebasing: text.prefix(beginning.count)).isEqual(to: beginning) else { return 0 }
        return text.dropFirst(beginning.count).prefix { (0x30...0x39).contains($0) }
            .reduce(0) { $0 &* 10 &+ UInt64($1 &- 0x30) }
    }

    private func make(_ description: JSON, _ text: [UInt8]) -> UnsafePointer<trestle_caller> {
        var caller = trestle_caller()
        caller.session = Self.session(description)
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
