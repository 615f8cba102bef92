import BridgeJSON
import Glibc
import PrivateDaemon
import TestSupport
import Testing

@Suite(
    "Controls: attacks that succeed without the container's protection", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct AttackControlTests {
    @Test("a call that does not wait for the answer to its hello runs as local if the hello is refused")
    func pipelined() async throws {
        let refusing = { (origins: [String]) in
            """
            [[rule]]
            deny = "origin"
            names = "\(origins[0])"
            """
        }
        try await WebRun.with(rules: refusing) { run in
            let line = try connect(run.folder.socketPath)
            defer { close(line) }
            let lines =
                #"{"task":"bridge.hello","options":{"origin":"\#(run.server.origins[0])"},"callbackId":1}"# + "\n"
                + #"{"task":"test.report","options":"attack","callbackId":2}"# + "\n"
            try #require(send(line, lines, lines.utf8.count, Int32(MSG_NOSIGNAL)) == lines.utf8.count)
            #expect(try await run.report() == Report(origin: "local", value: "attack"))
        }
    }

    private func connect(_ path: String) throws -> Int32 {
        let line = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(line, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw TestFailure("\(path): \(String(cString: strerror(errno)))") }
        return line
    }
}
