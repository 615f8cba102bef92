// Clients that wait in the queues of passed sockets while the daemon cannot start.
import BridgeJSON
import BridgeServer
import EventLoop
import Glibc
import Logging
import ServiceManager

extension Daemon {
    /// The minimum time until the exit if a client has waited. A service manager starts the daemon for each further
    /// connection and gives up a socket whose service it starts too often: systemd after 20 times within two seconds
    /// (`TriggerLimitBurst=`).
    private static let pace = Duration.seconds(1)

    /// Sends the reason of the failure to the waiting clients. Left in the queue, they would start the daemon again and
    /// again. Later clients are left to the next daemon, which may find a corrected configuration.
    func turnAwayWaiting() async {
        let end = EventLoop.now + Self.pace
        var descriptors: [Int32] = []
        while let socket = service.takeSocket() { descriptors.append(socket.release()) }
        guard descriptors.contains(where: Self.hasWaiting) else { return }
        for descriptor in descriptors {
            do throws(SystemError) {
                try server.turnAway(waitingAt: UnixSocket(adopting: descriptor), refusal)
            } catch {
                log.error("\(error)")
            }
        }
        await server.close(timeout: Self.lastWrites)
        await pause(until: end)
    }

    private func pause(until end: MonotonicInstant) async {
        let waiting = AsyncSignal<Void>()
        let timer = LoopTimer { waiting.resumeAll(()) }
        timer.schedule(at: end)
        _ = await waiting.wait()
        timer.close()
    }

    /// Transient: the configuration can be corrected meanwhile.
    private var refusal: BridgeError {
        isMisconfigured
            ? BridgeError(
                .configurationInvalid,
                "the daemon does not start: its configuration is invalid; see its log",
                isTransient: true, retryAfter: Self.pace)
            : BridgeError(
                .daemonStopping, "the daemon cannot start: see its log", data: ["started": false],
                isTransient: true, retryAfter: Self.pace)
    }

    private static func hasWaiting(_ descriptor: Int32) -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) == 1 && state.revents & Int16(POLLIN) != 0
    }
}
