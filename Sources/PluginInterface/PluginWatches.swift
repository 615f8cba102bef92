internal import CTaskPlugin
import EventLoop
import Glibc

/// A function of a plugin that waits for a descriptor or a timer.
///
/// `@unchecked`: called only on the loop thread.
struct WatchFunction: @unchecked Sendable {  // loop thread only
    private let receiver: PluginReceiver
    private let argument: UnsafeMutableRawPointer?
    private let function: (UnsafeMutableRawPointer?, UInt32) -> Void

    init(
        _ receiver: PluginReceiver, _ argument: UnsafeMutableRawPointer?,
        _ function: @escaping (UnsafeMutableRawPointer?, UInt32) -> Void
    ) {
        (self.receiver, self.argument, self.function) = (receiver, argument, function)
    }

    func callAsFunction(_ events: UInt32 = 0) {
        let holder = receiver.hold()
        function(argument, events)
        receiver.release(to: holder)
    }
}

/// The descriptors and the timers that a plugin waits for.
@LoopActor
final class PluginWatches {
    private enum Watch {
        /// Uses a copy of the plugin's descriptor, so that several watches can use the same one and the plugin may
        /// close it.
        case descriptor(DescriptorWatcher, copy: Int32)
        case timer(LoopTimer)

        @LoopActor
        func close() {
            switch self {
            case .timer(let timer): timer.close()
            case .descriptor(let watcher, let copy):
                watcher.close()
                Glibc.close(copy)
            }
        }
    }

    /// The maximum number of watches and timers of a plugin at a time.
    private static let maximum = 1_024
    private var watches: [Int64: Watch] = [:]
    private var last: Int64 = 0
    /// Whether no further watches and timers may begin.
    private var isOver = false

    nonisolated init() {}

    /// Watches a descriptor until it is ready for one of `events`, and then calls `ready` once.
    ///
    /// - Returns: The watch's number, or a negative errno.
    func watch(_ descriptor: Int32, _ events: UInt32, _ ready: WatchFunction) -> Int64 {
        let both = TRESTLE_WATCH_READABLE | TRESTLE_WATCH_WRITABLE
        guard events & both != 0, events & ~both == 0 else { return -Int64(EINVAL) }
        guard hasRoom else { return -Int64(EMFILE) }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return -Int64(errno) }
        let number = nextNumber
        do throws(SystemError) {
            let watcher = try DescriptorWatcher(copy) { [unowned self] in
                guard case .descriptor(let watcher, _) = watches[number] else { return }
                let able =
                    (watcher.readiness.readable ? TRESTLE_WATCH_READABLE : 0)
                    | (watcher.readiness.writable ? TRESTLE_WATCH_WRITABLE : 0)
                end(number)
                ready(able & events)
            }
            watches[number] = .descriptor(watcher, copy: copy)
            watcher.watch(
                readable: events & TRESTLE_WATCH_READABLE != 0, writable: events & TRESTLE_WATCH_WRITABLE != 0)
        } catch {
            close(copy)
            return -Int64(error.code)
        }
        return number
    }

    /// Calls `fire` once, after the given time.
    ///
    /// - Returns: The timer's number, or a negative errno.
    func timer(_ nanoseconds: Int64, _ fire: WatchFunction) -> Int64 {
        guard hasRoom else { return -Int64(EMFILE) }
        let number = nextNumber
        let timer = LoopTimer { [unowned self] in
            end(number)
            fire()
        }
        watches[number] = .timer(timer)
        timer.schedule(at: MonotonicInstant.now() + .nanoseconds(max(0, nanoseconds)))
        return number
    }

    /// Ends a watch or a timer, if it has not ended.
    func end(_ number: Int64) { watches.removeValue(forKey: number)?.close() }

    /// Ends all watches and timers, and refuses further ones.
    func endAll() {
        isOver = true
        for watch in watches.values { watch.close() }
        watches = [:]
    }

    private var hasRoom: Bool { !isOver && watches.count < Self.maximum }

    private var nextNumber: Int64 {
        last += 1
        return last
    }
}
