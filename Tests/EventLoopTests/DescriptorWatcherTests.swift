import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(20))) @LoopActor struct DescriptorWatcherTests {
    @Test("A watcher reports when a descriptor is readable or writable, and nothing while it watches neither")
    func readiness() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        var count = 0
        let waiting = AsyncSignal<Void>()
        let watcher = try DescriptorWatcher(ends[0]) {
            count += 1
            waiting.resumeAll(())
        }
        watcher.watch(readable: true, writable: false)
        await turns()
        #expect(count == 0)
        #expect(write(ends[1], "x", 1) == 1)
        _ = await waiting.wait()
        watcher.watch(readable: false, writable: false)
        let afterReading = count
        await turns()
        #expect(count == afterReading)
        watcher.watch(readable: false, writable: true)
        _ = await waiting.wait()
        watcher.close()
        let afterClosing = count
        await turns()
        #expect(count == afterClosing)
    }

    @Test("A descriptor that cannot be polled is refused")
    func file() throws {
        let descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let error = #expect(throws: SystemError.self) { try DescriptorWatcher(descriptor) {} }
        #expect(error?.code == EPERM)
    }
}
