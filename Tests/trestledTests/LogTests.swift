import BridgeJSON
import Glibc
import Logging
import ServiceManager
import Testing

@testable import trestled

/// Returns a record of 3 July 2026, 10:20:30.000123 UTC.
private func record(
    _ message: String, _ fields: Logger.Metadata = [:], level: Logger.Level = .notice
) -> LogRecord {
    LogRecord(level, message, fields, time: timespec(tv_sec: 1_783_074_030, tv_nsec: 123_999))
}

private let fields: Logger.Metadata = [
    "uid": .stringConvertible(UInt32(1_000)), "call": .stringConvertible(UInt64.max), "task": "Echo",
]

@Suite("The log as text")
struct TextLogTests {
    @Test("is one line for each record, with its fields in order and special characters escaped")
    func line() {
        let entry = record("a\nb\u{1B}[2J", ["b": "2\n3", "a": "1"], level: .error)
        #expect(TextLine(style: .priority).text(entry) == "<3>a\\nb\\u{1B}[2J a=1 b=2\\n3\n")
    }

    @Test("contains no control or direction character, in any format")
    func visible() throws {
        let hostile = "\u{9B}2J\u{7F}\u{202E}x\u{2066}\u{200F}\u{61C}"
        let entry = record(hostile, ["task": "\(hostile)"])
        for text in [
            TextLine(style: .terminal).text(entry), TextLine(style: .file).text(entry),
            String(decoding: JSONLine.bytes(entry), as: UTF8.self),
            String(decoding: JournalEntry.bytes(entry), as: UTF8.self),
        ] {
            for scalar in hostile.unicodeScalars where !scalar.isASCII || scalar.value == 0x7F {
                #expect(!text.unicodeScalars.contains(scalar), "\(text.debugDescription)")
            }
        }
        #expect(
            try JSON(parsing: String(decoding: JSONLine.bytes(entry), as: UTF8.self))["message"] == .string(hostile))
    }

    @Test("has time and colour on a terminal, no colour if that is disabled, and the date in a file")
    func styles() throws {
        #expect(TextLine.style(isTerminal: true, noColour: nil) == .terminal)
        #expect(TextLine.style(isTerminal: true, noColour: "") == .terminal)
        #expect(TextLine.style(isTerminal: true, noColour: "1") == .plainTerminal)
        #expect(TextLine.style(isTerminal: false, noColour: nil) == .file)
        let entry = record("hello", level: .warning)
        #expect(TextLine(style: .terminal).text(entry).contains("\u{1B}[33mwarning \u{1B}[0m hello\n"))
        #expect(!TextLine(style: .plainTerminal).text(entry).contains("\u{1B}"))
        let file = TextLine(style: .file).text(entry)
        #expect(file.wholeMatch(of: /2026-07-0\dT\d\d:\d\d:30[+-]\d{4} warning  hello\n/) != nil, "\(file)")
    }

    @Test("has the priorities of syslog", arguments: zip(Logger.Level.allCases, [7, 7, 6, 5, 4, 3, 2]))
    func priorities(level: Logger.Level, priority: Int) {
        #expect(record("", level: level).priority == priority)
    }
}

@Suite("The log as JSON")
struct JSONLogTests {
    @Test("is an object in one line, with numbers as numbers and the time in UTC")
    func line() throws {
        let bytes = JSONLine.bytes(record("a\n\"b\"", fields))
        #expect(bytes.firstIndex(of: UInt8(ascii: "\n")) == bytes.count - 1)
        let json = try JSON(parsing: String(decoding: bytes, as: UTF8.self))
        #expect(
            json == [
                "time": "2026-07-03T10:20:30.000123Z", "level": "notice", "message": "a\n\"b\"",
                "fields": ["call": .number(JSONNumber(UInt64.max)), "task": "Echo", "uid": 1_000],
            ])
    }

    @Test("omits the fields if there are none")
    func noFields() throws {
        let json = try JSON(parsing: String(decoding: JSONLine.bytes(record("a")), as: UTF8.self))
        #expect(json["fields"] == nil)
    }
}

@Suite("The log as entries of the journal")
struct JournalLogTests {
    /// Parses the fields of a datagram as the journal does.
    private func parse(_ bytes: [UInt8]) throws -> [String: String] {
        var fields: [String: String] = [:]
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = try #require(rest.firstIndex(of: UInt8(ascii: "\n")))
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
                fields[String(decoding: line[..<equals], as: UTF8.self)] =
                    String(decoding: line[(equals + 1)...], as: UTF8.self)
            } else {
                try #require(rest.count >= 8)
                let count = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
                try #require(rest.count >= 8 + count + 1)
                fields[String(decoding: line, as: UTF8.self)] =
                    String(decoding: rest.dropFirst(8).prefix(count), as: UTF8.self)
                rest = rest.dropFirst(8 + count)
                try #require(rest.first == UInt8(ascii: "\n"))
                rest = rest.dropFirst()
            }
        }
        return fields
    }

    @Test("has priority, identifier, message and fields, also for a message of several lines")
    func entry() throws {
        let entry = try parse(JournalEntry.bytes(record("first\nPRIORITY=0\tthird\u{1B}", fields, level: .debug)))
        #expect(
            entry == [
                "PRIORITY": "7", "SYSLOG_IDENTIFIER": "trestled", "MESSAGE": "first\nPRIORITY=0\tthird\\u{1B}",
                "TRESTLE_UID": "1000", "TRESTLE_CALL": "18446744073709551615", "TRESTLE_TASK": "Echo",
            ])
    }

    @Test("has field names that the journal accepts")
    func names() {
        #expect(JournalEntry.fieldName("session") == "TRESTLE_SESSION")
        #expect(JournalEntry.fieldName("a b=\né") == "TRESTLE_A_B___")
        #expect(JournalEntry.fieldName(String(repeating: "x", count: 100)).utf8.count == 64)
    }

    /// Runs `body` with a socket that replaces the journal's.
    private func journal(_ body: (_ path: String, _ descriptor: Int32) throws -> Void) throws {
        try withFiles([:]) { root in
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(root)/socket".utf8) }
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(status == 0)
            try body("\(root)/socket", descriptor)
            unlink("\(root)/socket")
        }
    }

    /// Runs `body` with an output to the journal at `path`. Returns the text that it wrote to standard error.
    private func lines(journal path: String, _ body: (LogOutput) -> Void) throws -> String {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        // A process that another test starts must not keep the pipe open.
        for end in ends { try #require(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
        try #require(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
        body(LogOutput(.journal, style: .file, descriptor: ends[1], journalPath: path))
        close(ends[1])
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while case let count = read(ends[0], &chunk, chunk.count), count > 0 { text += chunk[..<count] }
        return String(decoding: text, as: UTF8.self)
    }

    @Test("is sent to the journal's socket and not to standard error")
    func sent() throws {
        try journal { path, descriptor in
            let text = try lines(journal: path) { $0.write(record("hello", fields)) }
            #expect(text == "")
            var datagram = [UInt8](repeating: 0, count: 4_096)
            let count = recv(descriptor, &datagram, datagram.count, Int32(MSG_DONTWAIT))
            try #require(count > 0)
            #expect(try parse(Array(datagram[..<count]))["MESSAGE"] == "hello")
        }
    }

    @Test("goes to standard error with its priority if there is no journal")
    func absent() throws {
        let text = try lines(journal: "/tmp/trestle-no-journal-\(getpid())/socket") {
            $0.write(record("hello\nthere", fields))
        }
        #expect(text == "<5>hello\\nthere call=18446744073709551615 task=Echo uid=1000\n")
    }

    @Test("goes to standard error if it is too long for a datagram or if the journal does not read")
    func refused() throws {
        try journal { path, _ in
            let long = String(repeating: "x", count: 8_000_000)
            let text = try lines(journal: path) { $0.write(record(long)) }
            // The pipe holds only a part of it.
            #expect(text.hasPrefix("<5>xxxx") && text.utf8.count >= 4_096)
            let rest = try lines(journal: path) { output in
                for _ in 0..<2_000 { output.write(record("hello")) }
            }
            #expect(rest.hasPrefix("<5>hello\n"))
        }
    }
}

@Suite("The form of the log")
struct LogFormatTests {
    @Test("is the journal's if standard error is the stream that the environment names")
    func detection() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var status = stat()
        try #require(fstat(ends[1], &status) == 0)
        let stream = "\(status.st_dev):\(status.st_ino)"
        #expect(LogFormat.isJournal(stream, descriptor: ends[1]))
        for other in [nil, "", ":", "1", "1:2", "\(stream):1", "x\(stream)", "\(status.st_dev):\(status.st_ino + 1)"] {
            #expect(!LogFormat.isJournal(other, descriptor: ends[1]), "\(other ?? "nil")")
        }
        #expect(!LogFormat.isJournal(stream, descriptor: 1_000_000))
    }

    @Test("is text without a journal, unless another format is configured")
    func resolved() {
        // This process's standard error is not that stream.
        let surroundings = environment(["JOURNAL_STREAM": "0:0"])
        #expect(LogFormat.auto.resolved(surroundings) == .text)
        #expect(LogFormat.auto.resolved(environment()) == .text)
        for format in [LogFormat.text, .json, .journal] { #expect(format.resolved(surroundings) == format) }
    }
}
