import TOMLDocument
import Testing

@testable import trestled

@Suite("A configuration with one mistake anywhere")
struct ConfigurationMutationTests {
    private static let original = Array(
        """
        socket = "/a/s"
        socket_mode = "0660"
        plugin_dir = ["/a/p", "/b/p"]
        log_level = "debug"
        drain_timeout = "250ms"
        [limits]
        message_bytes = "64KiB"
        sessions = 11
        [plugins]
        disabled = ["login"]
        [plugins.alert]
        presenters = ["log"]

        """.utf8)

    /// Returns whether the bytes are a configuration. Checks the errors if they are not.
    private func isAccepted(_ bytes: [UInt8]) throws -> Bool {
        let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
        let defaults = Configuration(environment: environment(), executable: "/opt/trestle/bin/trestled")
        do {
            let document = try TOMLDocument(bytes: bytes, file: "t.toml")
            _ = try defaults.overlaid(by: document, ConfigurationOverrides(), workingDirectory: "/").checked()
            return true
        } catch let error as TOMLError {
            #expect(error.position != nil, "\(error)")
        } catch let errors as ConfigurationErrors {
            #expect(!errors.problems.isEmpty)
            for problem in errors.problems {
                let position = try #require(problem.position)
                #expect((1...lines).contains(position.line))
                #expect(problem.key != nil)
                #expect(!problem.description.contains("\n"))
            }
        }
        return false
    }

    @Test("is read or refused with positions if any byte is replaced", arguments: Array("x0\"'[].=#\n{,\\\u{7F}".utf8))
    func replaced(byte: UInt8) throws {
        var accepted = 0
        for index in Self.original.indices {
            var bytes = Self.original
            bytes[index] = byte
            if try isAccepted(bytes) { accepted += 1 }
        }
        #expect(accepted < Self.original.count / 2)
    }

    @Test("is read or refused with positions if any bytes are missing or doubled")
    func missing() throws {
        #expect(try isAccepted(Self.original))
        var accepted = 0
        for index in Self.original.indices {
            for length in [1, 7, 30] {
                let end = min(index + length, Self.original.count)
                var without = Self.original
                without.removeSubrange(index..<end)
                var twice = Self.original
                twice.insert(contentsOf: Self.original[index..<end], at: index)
                for bytes in [without, twice] where try isAccepted(bytes) { accepted += 1 }
            }
        }
        #expect(accepted > 0)
        #expect(accepted < Self.original.count * 3)
    }
}
