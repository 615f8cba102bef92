import ArgumentParser
import Glibc
import MainLoop
import WebKitViews

/// Compiles content filters in a child process of the program. Not a command for people.
struct CompileFilters: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "compile-filters", shouldDisplay: false)

    /// The command line of the child process, without the folder.
    static let commandLine = ["/proc/self/exe", "compile-filters"]

    /// The limit of CPU time in seconds. The maximum number of filters usually takes a tenth of a second. Filters that
    /// take longer need little memory, so memory has no limit of its own; the engine's reserved address space would
    /// exceed one.
    private static let maximumSeconds: rlim_t = 5

    @Argument(help: "The folder for the compiled filters.")
    var folder: String

    func run() throws {
        limit()
        let source = readInput()
        let problem = MainActor.assumeIsolated { Self.compile(source, folder) }
        guard let problem else { return }
        print(problem, terminator: "")
        throw ExitCode(1)
    }

    private func limit() {
        // SIGXCPU at the first limit shows why the process ended; SIGKILL at the second could have other causes. The
        // parent may have blocked or ignored SIGXCPU.
        signal(SIGXCPU, SIG_DFL)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGXCPU)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        var processor = rlimit(rlim_cur: Self.maximumSeconds, rlim_max: Self.maximumSeconds + 1)
        setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &processor)
        var core = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &core)
    }

    private func readInput() -> [UInt8] {
        var source: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = read(STDIN_FILENO, &buffer, buffer.count), count > 0 { source += buffer[..<count] }
        return source
    }

    /// Compiles filters and returns the problem; `nil` for none.
    @MainActor
    private static func compile(_ source: [UInt8], _ folder: String) -> String? {
        var problem: String?
        Task {
            do throws(EngineError) {
                try await ContentFilter.save(source, in: folder)
            } catch {
                problem = error.description
            }
            MainLoop.quit()
        }
        MainLoop.run()
        return problem
    }
}
