import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(20))) @LoopActor struct FolderWatcherTests {
    /// Records the reported paths.
    @LoopActor
    private final class Ear {
        private var heard: [String] = []
        private let waiting = AsyncSignal<Void>()

        func take(_ change: FolderWatcher.Change) {
            switch change {
            case .changed(let path): heard.append(path)
            case .unwatched(let path, let error): heard.append("\(path): \(error)")
            }
            waiting.resumeAll(())
        }

        /// Waits until a path has been reported.
        ///
        /// - Returns: The distinct paths reported since the last call.
        @discardableResult
        func hears(_ path: String) async -> Set<String> {
            while !heard.contains(path) { _ = await waiting.wait() }
            defer { heard.removeAll() }
            return Set(heard)
        }

        var isSilent: Bool { heard.isEmpty }
    }

    private func write(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        #expect(Glibc.write(descriptor, "x", 1) == 1)
        close(descriptor)
    }

    @Test("Reports files that are written, renamed and removed, also in new folders")
    func reports() async throws {
        let folder = try TemporaryDirectory()
        mkdir(folder.file("old"), 0o700)
        let ear = Ear()
        let watcher = try FolderWatcher(folder.path) { ear.take($0) }
        write(folder.file("a"))
        await ear.hears(folder.file("a"))
        rename(folder.file("a"), folder.file("old/b"))
        await ear.hears(folder.file("old/b"))
        mkdir(folder.file("new"), 0o700)
        await ear.hears(folder.file("new"))
        mkdir(folder.file("new/inner"), 0o700)
        await ear.hears(folder.file("new/inner"))
        write(folder.file("new/inner/c"))
        await ear.hears(folder.file("new/inner/c"))
        // The events of the write come before these.
        unlink(folder.file("new/inner/c"))
        mkdir(folder.file("last"), 0o700)
        #expect(await ear.hears(folder.file("last")).contains(folder.file("new/inner/c")))
        watcher.close()
        write(folder.file("a"))
        await turns()
        #expect(ear.isSilent)
    }

    @Test("Does not report skipped names, and does not watch skipped folders")
    func skips() async throws {
        let folder = try TemporaryDirectory()
        mkdir(folder.file(".build"), 0o700)
        let ear = Ear()
        let watcher = try FolderWatcher(folder.path, skipping: { $0.hasPrefix(".") }) { ear.take($0) }
        defer { watcher.close() }
        write(folder.file(".build/object"))
        write(folder.file(".swap"))
        write(folder.file("source"))
        // Events arrive in order: the others would have been reported before.
        #expect(await ear.hears(folder.file("source")) == [folder.file("source")])
    }

    @Test("Throws an error that names a missing folder")
    func missing() {
        let error = #expect(throws: SystemError.self) { try FolderWatcher("/nowhere/at/all") { _ in } }
        #expect(error?.code == ENOENT)
        #expect(error?.description.contains("/nowhere/at/all") == true)
    }
}
