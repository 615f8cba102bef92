import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("The socket and the state directory of the daemon", .blocking)
struct SocketTests {
    private func mode(of path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    /// Starts a daemon that must refuse to start. Returns its log.
    private func refusal(_ home: DaemonHome, status: Int32 = 1) throws -> String {
        let daemon = try DaemonProcess(in: home)
        #expect(try daemon.wait() == .exited(status))
        return daemon.log
    }

    @Test("only the daemon's user can open the socket and the state directory, unless socket_mode permits more")
    func permissions() throws {
        try withDaemon { daemon in
            #expect(mode(of: daemon.home.socketPath) == 0o600)
            #expect(mode(of: daemon.home.statePath) == 0o700)
        }
        try withDaemon("socket_mode = \"0660\"") { #expect(mode(of: $0.home.socketPath) == 0o660) }
    }

    @Test("missing directories of their paths are created")
    func directories() throws {
        let home = try DaemonHome()
        home.socketPath = home.folder.file("a/b/s")
        home.statePath = home.folder.file("c/d/state")
        try withDaemon(in: home) { _ in
            #expect(mode(of: home.folder.file("a/b")) == 0o755)
            #expect(mode(of: home.statePath) == 0o700)
        }
    }

    @Test("a second daemon at the same socket is refused, and the first one continues")
    func socketInUse() throws {
        try withDaemon { first in
            let client = try first.connect()
            let home = try DaemonHome()
            home.socketPath = first.home.socketPath
            let log = try refusal(home)
            #expect(log.contains("listen at \(home.socketPath): another server is running there"))
            #expect(try client.result("Echo", 1) == 1)
            #expect(try first.connect().result("Echo", 2) == 2)
        }
    }

    @Test("a second daemon with the same state directory is refused, and the first one continues")
    func stateInUse() throws {
        try withDaemon { first in
            let home = try DaemonHome()
            home.statePath = first.home.statePath
            #expect(try refusal(home).contains("lock the state directory \(home.statePath): another trestled uses it"))
            #expect(!exists(home.socketPath))
            #expect(try first.connect().result("Echo", 1) == 1)
        }
    }

    @Test("the socket and its lock are removed when the daemon ends")
    func leftovers() throws {
        let home = try DaemonHome()
        for _ in 1...2 {
            try withDaemon(in: home) { daemon throws in #expect(try daemon.stop() == .exited(0)) }
            #expect(!exists(home.socketPath))
            #expect(!exists(home.socketPath + ".lock"))
        }
    }

    @Test("the next daemon starts after the previous one was killed")
    func killed() throws {
        let home = try DaemonHome()
        try withDaemon(in: home) { daemon in
            _ = try daemon.connect().result("bridge.hello")
            daemon.signal(SIGKILL)
            #expect(try daemon.wait() == .killed(by: SIGKILL))
        }
        #expect(exists(home.socketPath))
        try withDaemon(in: home) { daemon throws in #expect(try daemon.connect().result("Echo", 1) == 1) }
    }

    @Test("a stale socket is replaced")
    func staleSocket() throws {
        let home = try DaemonHome()
        let stale = try #require(bindAndClose(home.socketPath))
        try withDaemon(in: home) { daemon throws in
            #expect(try daemon.connect().result("Echo", 1) == 1)
            var status = stat()
            #expect(lstat(home.socketPath, &status) == 0 && status.st_ino != stale)
        }
    }

    /// Creates a socket at a path without listening. Returns its inode, or `nil` on failure. The socket stays open
    /// until the process ends, so that no other file gets this inode.
    private func bindAndClose(_ path: String) -> ino_t? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        var status = stat()
        return result == 0 && lstat(path, &status) == 0 ? status.st_ino : nil
    }

    @Test("a file at the path of the socket stays, and the error reports it")
    func fileAtPath() throws {
        let home = try DaemonHome()
        try home.folder.write("precious", to: "s")
        #expect(try refusal(home).contains("something that is not a socket is there"))
        #expect(contents(of: home.socketPath) == "precious")
    }

    @Test("a symbolic link at the path of the socket or its lock is not followed, and the error reports it")
    func links() throws {
        for suffix in ["", ".lock"] {
            let home = try DaemonHome()
            let path = home.socketPath + suffix
            symlink(home.folder.file("made"), path)
            #expect(
                try refusal(home).contains("\(path): it is a symbolic link, which may lead anywhere: remove it"))
            #expect(!exists(home.folder.file("made")))
        }
    }

    @Test(
        "a socket or a lock of another user is not removed, and the error reports it",
        .enabled(if: geteuid() == 0, "only root can give one away"))
    func foreignFiles() throws {
        let home = try DaemonHome()
        let stale = try #require(bindAndClose(home.socketPath))
        chown(home.socketPath, 65_534, 65_534)
        #expect(
            try refusal(home).contains(
                "listen at \(home.socketPath): the existing file belongs to uid 65534: remove it"))
        var status = stat()
        #expect(lstat(home.socketPath, &status) == 0 && status.st_ino == stale)
        unlink(home.socketPath)
        chown(try home.folder.write("", to: "s.lock"), 65_534, 65_534)
        #expect(
            try refusal(home).contains(
                "lock \(home.socketPath).lock: the existing file belongs to uid 65534: remove it"))
    }

    @Test("a parent directory that others may write is refused at any level")
    func writableDirectory() throws {
        let home = try DaemonHome()
        mkdir(home.folder.file("a"), 0o755)
        mkdir(home.folder.file("a/b"), 0o755)
        home.socketPath = home.folder.file("a/b/s")
        for directory in [home.folder.file("a"), home.folder.file("a/b")] {
            chmod(directory, 0o777)
            #expect(
                try refusal(home).contains(
                    "listen at \(home.socketPath): another socket could replace it: everybody may write the "
                        + "directory \(directory) on the way to it; remove that permission: chmod o-w \(directory)"))
            chmod(directory, 0o755)
        }
        try withDaemon(in: home) { daemon throws in #expect(try daemon.connect().result("Echo", 1) == 1) }
    }

    @Test("a parent directory of another user is refused", .enabled(if: geteuid() == 0, "only root can give one away"))
    func foreignDirectory() throws {
        let home = try DaemonHome()
        mkdir(home.folder.file("a"), 0o755)
        chown(home.folder.file("a"), 65_534, 65_534)
        home.socketPath = home.folder.file("a/s")
        #expect(
            try refusal(home).contains("the directory \(home.folder.file("a")) on the way to it belongs to uid 65534"))
    }

    @Test("a file that replaced the socket is not removed at the end")
    func foreignSocket() throws {
        try withDaemon { daemon throws in
            unlink(daemon.home.socketPath)
            try daemon.home.folder.write("somebody else's", to: "s")
            #expect(try daemon.stop() == .exited(0))
            #expect(contents(of: daemon.home.socketPath) == "somebody else's")
        }
    }

    @Test("a path of 107 bytes works, and a longer one is refused with an error")
    func longPath() throws {
        let home = try DaemonHome()
        let folder = home.folder.path + "/"
        home.socketPath = folder + String(repeating: "s", count: 107 - folder.utf8.count)
        try withDaemon(in: home) { daemon throws in #expect(try daemon.connect().result("Echo", 1) == 1) }
        home.socketPath += "s"
        #expect(try refusal(home).contains("it has 108 bytes, and a Unix socket's path has at most 107"))
    }

    @Test("clients above limits.sessions get an error and a close")
    func tooManyClients() throws {
        try withDaemon("limits.sessions = 2") { daemon in
            let first = try daemon.connect()
            try awaitSessions(1, first)
            let second = try daemon.connect()
            try awaitSessions(2, first)
            let third = try daemon.connect()
            let answers = try third.receiveAll()
            #expect(answers.count == 1)
            #expect(answers.first?["error"]?["code"] == "busy")
            #expect(answers.first?["error"]?["transient"] == true)
            first.close()
            // Another client may connect when the daemon has noticed that the first has disconnected.
            try awaitSessions(1, second)
            #expect(try daemon.connect().result("Echo", 1) == 1)
        }
    }

    @Test("a thousand clients connect and disconnect, and the daemon has as many open descriptors as before")
    func descriptors() throws {
        try withDaemon { daemon in
            let observer = try daemon.connect()
            try awaitSessions(1, observer)
            let before = try daemon.descriptorCount()
            for round in 0..<20 {
                let clients = try (0..<50).map { _ in try daemon.connect() }
                for client in clients { try client.send(#"{"task":"Echo","options":\#(round),"callbackId":1}"#) }
                for client in clients { _ = try client.receive() }
            }
            try awaitSessions(1, observer)
            #expect(try daemon.descriptorCount() == before)
        }
    }

    /// Waits until one of the clients sees the specified number of sessions.
    private func awaitSessions(_ count: Int64, _ client: Wire) throws {
        try client.result("bridge.status") { $0["sessions"]?.int64Value == count }
    }
}
