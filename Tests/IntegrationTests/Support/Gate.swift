import Glibc
import TestSupport

/// A barrier at which other processes wait until the test opens it: a file that the test has locked. The lock ends with
/// the test's process, so that no process waits for a test that has ended.
final class Gate {
    let path: String
    private let descriptor: Int32

    /// Creates a gate that is closed until `open()`.
    init(in folder: TemporaryFolder, _ name: String = "gate") throws {
        path = try folder.write("", to: name)
        descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX) == 0 else { throw TestFailure("\(path) cannot be locked") }
    }

    deinit { close(descriptor) }

    /// Opens the gate for all processes that wait now or later.
    func open() { flock(descriptor, LOCK_UN) }

    /// A statement that waits at the gate, in a `PluginInPython`.
    var python: String { "fcntl.flock(open(\"\(path)\"), fcntl.LOCK_SH)" }

    /// A statement in C that waits at the gate. It requires <fcntl.h> and <sys/file.h>.
    var c: String { "flock(open(\"\(path)\", O_RDONLY), LOCK_SH);" }
}
