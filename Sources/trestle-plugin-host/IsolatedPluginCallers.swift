import BridgeJSON
import CTaskPlugin
import Glibc
import PluginInterface

/// The descriptions of callers in the form of the plugin interface, made from the daemon's text and cached between
/// calls. Loop thread only.
struct IsolatedPluginCallers {
    private let callers = ForeignCallers<[UInt8]>()

    /// Returns the description for a caller's text from the daemon; an empty text stands for the daemon itself. Valid
    /// until ``freeRetired()``.
    func descriptor(_ text: UnsafeRawBufferPointer) -> UnsafePointer<trestle_caller> {
        if let known = callers.descriptor(of: Self.session(text), where: text.isEqual) { return known }
        let bytes = Array(text)
        return bytes.isEmpty ? makeDaemon() : make((try? JSON(parsing: bytes)) ?? .null, bytes)
    }

    /// Removes a session that has ended.
    func forget(_ caller: JSON) {
        callers.forget(Self.session(caller))
    }

    /// Frees descriptions that are no longer current. Called when no function of the plugin is on the stack.
    func freeRetired() {
        guard callers.hasRetired else { return }
        callers.freeRetired()
    }

    private static func session(_ caller: JSON) -> UInt64 { UInt64(clamping: caller["session"]?.int64Value ?? 0) }

    private static let beginning = Array(#"{"session":"#.utf8)

    /// Returns the session of a description, which begins with its number; parsing the whole text would cost more than
    /// the call. Returns 0, which stands for the daemon, for any other text.
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

    /// Makes the description of the daemon itself, which started this process and runs as the same user.
    private func makeDaemon() -> UnsafePointer<trestle_caller> {
        var caller = trestle_caller()
        caller.uid = geteuid()
        caller.pid = getppid()
        caller.flags = TRESTLE_CALLER_TRUSTED
        return callers.make(caller, [], origin: "local", user: nil, client: nil)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns whether these are the same bytes. It uses a single comparison, because it runs with every call.
    func isEqual(to bytes: [UInt8]) -> Bool {
        guard count == bytes.count else { return false }
        return bytes.withUnsafeBytes { other in
            guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
            return memcmp(start, otherStart, count) == 0
        }
    }
}
