public import EventLoop
import Synchronization

/// The plugins whose code may hold the loop thread of this process, by their numbers for ``LoopHolder``.
public enum PluginHolders {
    /// Receivers are never deallocated. Other threads call only those of their methods that are for any thread.
    private struct Receivers: @unchecked Sendable {  // other threads call methods for any thread
        var all: [PluginReceiver] = []
    }

    private static let receivers = Mutex(Receivers())
    /// The mask of a holder's lower bits: a task's number plus one; 0 for no task.
    static let taskMask: UInt32 = 0xFFFF

    /// The holder number of the next receiver; 0, which stands for none, if the numbers are exhausted.
    static var nextHolder: UInt32 {
        let number = receivers.withLock { $0.all.count + 1 }
        return number > Int(UInt16.max) ? 0 : UInt32(number) << 16
    }

    static func add(_ receiver: PluginReceiver) {
        let added = Receivers(all: [receiver])
        receivers.withLock { $0.all += added.all }
    }

    private static func receiver(of holder: UInt32) -> PluginReceiver? {
        let number = Int(holder >> 16)
        return receivers.withLock { $0.all.indices.contains(number - 1) ? Receivers(all: [$0.all[number - 1]]) : nil }?
            .all.first
    }

    /// Starts the warnings to plugins whose code holds the loop thread for long. Called once in a process.
    ///
    /// - Parameter isPlugins: Whether the loop serves only one plugin, so that work without a holder counts as the
    ///   plugin's.
    @LoopActor
    public static func watch(isPlugins: Bool = false) {
        let own = { @Sendable (holder: UInt32) in holder == 0 && isPlugins ? 1 << 16 : holder }
        LoopWatch.start { holder in
            let holder = own(holder)
            let task = Int(holder & taskMask) - 1
            return receiver(of: holder)?.holderName(task < 0 ? nil : task)
        } report: { hold in
            receiver(of: own(hold.holder))?.noteHold(hold)
        }
    }
}

extension LoopHold {
    /// Returns a line for the log.
    ///
    /// - Parameter owner: The owner of the thread: "plugin" or "daemon".
    public func sentence(threadOf owner: String) -> String {
        let tenths = Int((duration / .milliseconds(100)).rounded())
        let time = "\(tenths / 10).\(tenths % 10) s"
        let verb = isOver ? "held" : "has held"
        return "\(name) \(verb) the \(owner)'s thread for \(time)\(isOver ? "" : ", and still does"); "
            + "use call.blocking, in C host->blocking"
    }
}
