import BridgeJSON
import EventLoop
import Glibc
import TaskRuntime
import PluginInterface

/// One process of a plugin from its start on. Sends the requests before it takes calls, and checks with pings that it
/// still answers. Loop thread only.
@LoopActor
final class PluginProcessMember {
    let process: PluginProcess
    var link: PluginProcessLink { process.link }
    /// Whether it takes calls.
    private(set) var isReady = false
    /// Whether it supports `plugin.clean`. A process that does not has no state to clean.
    private var needsCleaning = true
    /// Its resident memory when it became ready, in bytes.
    private var residentBytesAtFirst: UInt64 = 0

    private let times: PluginProcessSupervisor.Times
    private var pingTimer: ProcessTimeout?
    private var pingRequest: UInt64?
    /// The input that the process must handle before the ping; `nil` before the first ping.
    private var pingBacklog: PingBacklog?
    /// Whether it answers pings while it works on calls.
    private var isPingedAlways = false

    init(_ process: PluginProcess, times: PluginProcessSupervisor.Times) {
        self.process = process
        self.times = times
    }

    // MARK: Before it takes calls

    /// Sends `plugin.hello`.
    ///
    /// - Parameter options: The options of `plugin.hello`.
    /// - Returns: The process's description of itself.
    func greet(_ options: JSON) async throws(BridgeError) -> JSON {
        let answer = try await ask("plugin.hello", options, within: times.hello)
        let other = answer["protocol"]?["version"]?.stringValue ?? PluginProtocol.version
        guard other.split(separator: ".").first == PluginProtocol.version.split(separator: ".").first else {
            throw BridgeError(
                .pluginUnavailable,
                "it speaks version \(other.prefix(32)) of the plugin protocol, this daemon \(PluginProtocol.version)")
        }
        isPingedAlways = answer["ping"] == "always"
        return answer
    }

    /// Brings it to the state of the earlier processes.
    ///
    /// - Returns: The answer to `plugin.start`.
    func prepare(section: JSON?, start: JSON?) async throws(BridgeError) -> JSON {
        if let section { _ = try await ask("plugin.configure", section, within: times.start) }
        guard let start else { return [:] }
        return try await ask("plugin.start", start, within: times.start)
    }

    /// Makes it run launch workers, one after the other. A worker that is not required may fail.
    func launch(_ workers: [(worker: PluginManifest.Worker, options: JSON)]) async throws(BridgeError) {
        for (worker, options) in workers {
            do throws(BridgeError) { _ = try await ask("plugin.launch", options, within: times.start) } catch {
                if worker.isRequired { throw error }
            }
        }
    }

    /// Marks it as ready for calls, and begins the pings.
    func becomeReady() {
        isReady = true
        link.isReady = true
        link.host.reportMarks(to: link)
        residentBytesAtFirst = Self.residentBytes(of: process.pid) ?? 0
        schedulePing()
    }

    /// Sends the process a request and returns the answer. If the process does not support the request, the answer is
    /// an empty object.
    func ask(_ task: String, _ options: JSON, within limit: Duration) async throws(BridgeError) -> JSON {
        let outcome: Result<[UInt8], BridgeError> = await withCheckedContinuation { continuation in
            var timer: ProcessTimeout?
            let request = link.request(task, options) { outcome in
                LoopActor.assumeIsolated {
                    timer?.close()
                    timer = nil
                }
                continuation.resume(returning: outcome)
            }
            // Now, not at the end of the turn: the process works while this thread loads other plugins.
            process.writeOutput()
            timer = ProcessTimeout(limit, for: process.pid) { [weak process] in
                process?.link.forget(request)
                let error = BridgeError(.pluginUnavailable, "it did not answer \(task) within \(limit)")
                process?.fail("did not answer \(task) within \(limit)")
                continuation.resume(returning: .failure(error))
            }
        }
        if case .failure(let error) = outcome, error.code == .taskNotFound { return .object([:]) }
        return await value(of: try outcome.get())
    }

    /// Returns the value of an answer. A long one, such as a manifest with many schemas, is parsed in the lane.
    private func value(of text: [UInt8]) async -> JSON {
        // `try?`: it is a part of a line that has been checked.
        let read: @Sendable () -> JSON = { (try? JSON(parsing: text)) ?? .null }
        let runtime = link.host.runtime
        guard text.count > PluginProtocol.newsBytes, let lane = runtime.lane else { return read() }
        let uid = runtime.policy.daemonUID
        return await withCheckedContinuation { continuation in
            lane.run(for: uid, read) { continuation.resume(returning: $0) }
        }
    }

    // MARK: Change of callers

    /// Makes it discard the state of its last caller.
    ///
    /// - Parameter done: Called when the next caller may use it; not called if it ends instead.
    func clean(_ done: @escaping @LoopActor () -> Void) {
        guard needsCleaning else { return done() }
        var timer: ProcessTimeout?
        let request = link.request("plugin.clean", [:]) { [weak self] outcome in
            LoopActor.assumeIsolated {
                timer?.close()
                timer = nil
                guard let self else { return }
                switch outcome {
                case .success: done()
                case .failure(let error) where error.code == .taskNotFound:
                    self.needsCleaning = false
                    done()
                // The end of the process is handled elsewhere.
                case .failure(let error) where error.code == .pluginCrashed: break
                case .failure(let error): self.process.fail("cannot be cleaned: \(error.message)")
                }
            }
        }
        timer = ProcessTimeout(times.ping, for: process.pid) { [weak process, times] in
            process?.link.forget(request)
            process?.fail("did not answer plugin.clean within \(times.ping)")
        }
    }

    /// The growth of its memory since it was ready, in bytes.
    var grownBytes: UInt64 {
        guard let now = Self.residentBytes(of: process.pid), now > residentBytesAtFirst else { return 0 }
        return now - residentBytesAtFirst
    }

    /// Returns the resident memory: the second number of /proc/PID/statm, in pages; `nil` if it cannot be read.
    private static func residentBytes(of pid: Int32) -> UInt64? {
        let file = open("/proc/\(pid)/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            guard count > 0 else { return nil }
            let numbers = buffer[..<count].split(separator: UInt8(ascii: " "))
            guard numbers.count > 1, let pages = UInt64(String(decoding: numbers[1], as: UTF8.self)) else { return nil }
            return pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
        }
    }

    // MARK: Pings

    private func schedulePing() {
        pingTimer?.close()
        pingTimer = ProcessTimeout(times.ping, for: process.pid) { [weak self] in self?.ping() }
    }

    private func ping() {
        guard !process.isEndExpected else { return }
        guard pingRequest == nil else {
            guard pingBacklog?.hasMoved(to: link.takenBytes, answers: link.answerCount) == true else {
                return process.fail("did not answer a ping within \(times.ping)")
            }
            return schedulePing()
        }
        // Some processes handle only one call at a time and are not pinged meanwhile, unless no caller waits for the
        // work.
        if isPingedAlways || link.isUnawaited {
            let unread = link.unreadBytes
            pingRequest = link.request("plugin.ping", [:]) { [weak self] _ in
                LoopActor.assumeIsolated { self?.pingRequest = nil }
            }
            let taken = link.takenBytes
            pingBacklog = PingBacklog(
                unread: unread, end: taken + UInt64(link.unreadBytes), taken: taken, answers: link.answerCount)
        }
        schedulePing()
    }

    // MARK: The end

    /// Sends it no further calls, lets it finish, and ends it.
    func retire() {
        process.isEndExpected = true
        stopPings()
        Task { @LoopActor in
            _ = try? await ask("plugin.stop", [:], within: times.hello)
            process.finish()
        }
    }

    func stopPings() {
        pingTimer?.close()
        pingTimer = nil
    }
}
