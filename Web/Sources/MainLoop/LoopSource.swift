internal import CWebKitGTK
internal import Glibc

/// An event source of the loop. It is active until ``cancel()`` or until this object is released.
@MainActor
public final class LoopSource {
    /// The readiness that a descriptor is watched for. An end and an error are always reported.
    public enum Readiness {
        case input, output
    }

    private var id: UInt32 = 0

    private init() {}

    isolated deinit { cancel() }

    /// Removes the source; its closure is not called again.
    public func cancel() {
        guard id != 0 else { return }
        g_source_remove(id)
        id = 0
    }

    /// Calls `body` whenever a descriptor is ready.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor, which must stay open while it is watched.
    ///   - readiness: The readiness to watch for.
    ///   - name: The name of the source, for people.
    ///   - body: The closure; it may cancel this source.
    public static func watching(
        _ descriptor: Int32, for readiness: Readiness, as name: String = "descriptor",
        _ body: @escaping @MainActor () -> Void
    ) -> LoopSource {
        let source = LoopSource()
        let condition = readiness == .input ? G_IO_IN : G_IO_OUT
        let conditions = GIOCondition(condition.rawValue | G_IO_HUP.rawValue | G_IO_ERR.rawValue)
        source.id = g_unix_fd_add_full(
            G_PRIORITY_DEFAULT, descriptor, conditions,
            { _, _, data in
                LoopBody.call(data)
                return 1
            }, LoopBody(name, body).retained, LoopBody.release)
        return source
    }

    /// Calls `body` once or repeatedly.
    ///
    /// - Parameters:
    ///   - interval: The time before each call.
    ///   - repeats: Whether there is another call after the first.
    ///   - name: The name of the timer, for people.
    ///   - body: The closure; it may cancel this source.
    public static func timer(
        after interval: Duration, repeats: Bool = false, as name: String = "timer",
        _ body: @escaping @MainActor () -> Void
    ) -> LoopSource {
        let source = LoopSource()
        let action = LoopBody(name) { [weak source] in
            if !repeats { source?.id = 0 }
            body()
        }
        let function: GSourceFunc =
            repeats
            ? { data in
                LoopBody.call(data)
                return 1
            }
            : { data in
                LoopBody.call(data)
                return 0
            }
        source.id = g_timeout_add_full(
            G_PRIORITY_DEFAULT, interval.wholeMilliseconds, function, action.retained, LoopBody.release)
        return source
    }

    /// Calls `body` at each arrival of a signal of the process. The signal is unblocked, in case the parent process has
    /// blocked it.
    ///
    /// - Parameters:
    ///   - number: The signal: SIGTERM, SIGINT or SIGHUP.
    ///   - body: The closure.
    public static func signal(_ number: Int32, _ body: @escaping @MainActor () -> Void) -> LoopSource {
        let source = LoopSource()
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        source.id = g_unix_signal_add_full(
            G_PRIORITY_DEFAULT, number,
            { data in
                LoopBody.call(data)
                return 1
            }, LoopBody("signal", body).retained, LoopBody.release)
        return source
    }
}

extension Duration {
    /// The duration in milliseconds, rounded up and limited to GLib's range.
    fileprivate var wholeMilliseconds: UInt32 {
        let (seconds, attoseconds) = components
        let milliseconds = seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return UInt32(clamping: milliseconds)
    }
}
