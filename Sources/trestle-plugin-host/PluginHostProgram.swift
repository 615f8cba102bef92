// trestle-plugin-host: loads a plugin's library in a process of its own, and implements the plugin protocol for it.
import EventLoop
import Glibc
import PluginInterface

/// The program. The daemon starts it with the library's path and a socket.
@main
enum PluginHostProgram {
    private static let help = """
        usage: trestle-plugin-host LIBRARY

        Loads a plugin in a process of its own. The Trestle daemon starts this program, and communicates with it over
        the descriptor in \(PluginProtocol.descriptorVariable).
        """

    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard let library = arguments.first, arguments.count == 1, !library.hasPrefix("-") else {
            let isWanted = arguments.first == "--help" || arguments.first == "-h"
            writeLine(help, to: isWanted ? STDOUT_FILENO : STDERR_FILENO)
            exit(isWanted ? 0 : 64)
        }
        guard let descriptor = getenv(PluginProtocol.descriptorVariable).flatMap({ Int32(String(cString: $0)) }) else {
            writeLine(
                "trestle-plugin-host: \(PluginProtocol.descriptorVariable) contains no descriptor: only the "
                    + "daemon can start this program",
                to: STDERR_FILENO)
            exit(64)
        }
        // Ends this process with the daemon, even if the plugin blocks the loop, which would detect the end of the
        // daemon.
        ParentProcess.endWithIt()
        // Standard error goes to the daemon's log, so a crash report on it must not contain memory.
        ProcessMemory.keepOutOfCrashReports()
        // A failed write reports that the daemon has ended.
        signal(SIGPIPE, SIG_IGN)
        Task { @LoopActor in
            do {
                try IsolatedPluginHost.serve(library, over: descriptor)
            } catch {
                writeLine("the descriptor \(descriptor) cannot be used: \(error)", to: STDERR_FILENO)
                exit(1)
            }
        }
        // A plugin's @MainActor code runs here.
        MainQueue.serve()
    }

    private static func writeLine(_ text: String, to descriptor: Int32) {
        let line = Array((text + "\n").utf8)
        _ = write(descriptor, line, line.count)
    }
}
