public import EventLoop
import Synchronization

/// The plugins whose code may hold the loop thread of this process, by the numbers that ``LoopHolder`` gives them.
public enum PluginHolders {
    /// Receivers are never deallocated, and only their methods for any thread are called from another one.
    private struct Receivers: @unchecked Sendable {  // other threads call methods for any thread
        var all: [PluginReceiver] = []
    }

    private static let receivers = Mutex(Receivers())
    /// A holder's lower bits: a task's number and one; 0: none.
    static let taskMask: UInt32 = 0xFFFF

    /// The holder of the next receiver; 0, which stands for none, where there are more than the number can name.
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

    /// Has plugins warned when their code holds the loop thread for long. Once in a process.
    ///
    /// - Parameter isPlugins: whether the loop serves one plugin and nothing else, so that what no other code has done
    ///   is the plugin's.
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
    /// A line for the log.
    ///
    /// - Parameter owner: whose thread it is: "plugin" or "daemon".
    public func sentence(threadOf owner: String) -> String {
        let tenths = Int((duration / .milliseconds(100)).rounded())
        let time = "\(tenths / 10).\(tenths % 10) s"
        let verb = isOver ? "held" : "has held"
        return "\(name) \(verb) the \(owner)'s thread for \(time)\(isOver ? "" : ", and goes on"); "
            + "use call.blocking, in C host->blocking"
    }
}
