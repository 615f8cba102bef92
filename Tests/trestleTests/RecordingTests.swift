import BridgeJSON
import TestSupport
import Testing

@testable import trestle

/// The header of a recording.
private let header = #"{"trestle":"recording","version":1}"#

private func call(_ number: Int, _ more: String = #","options":{}"#, task: String = "Echo") -> String {
    #"{"offsetUs":\#(number),"kind":"call","call":\#(number),"task":"\#(task)","session":1\#(more)}"#
}

private func end(_ number: Int, _ outcome: String = #""result":1"#) -> String {
    #"{"offsetUs":100,"kind":"callback","call":\#(number),"durationUs":5,\#(outcome)}"#
}

/// Replaces the offsets of the lines by increasing ones.
private func ordered(_ lines: [String]) -> [String] {
    lines.enumerated().map { index, line in
        guard let comma = line.firstIndex(of: ","), line.hasPrefix(#"{"offsetUs""#) else { return line }
        return #"{"offsetUs":\#(index)\#(line[comma...])"#
    }
}

private func read(_ lines: [String]) throws -> Recording {
    try RecordingReader.read(Array(([header] + ordered(lines)).joined(separator: "\n").utf8), file: "r.jsonl")
}

@Suite("Reading a recording")
struct RecordingReaderTests {
    @Test("Calls of clients have options and ends; calls of plugins are counted")
    func calls() throws {
        let recording = try read([
            call(1), call(2, #","plugin":"notes","options":{}"#, task: "p"), end(1), end(2),
            #"{"offsetUs":0,"kind":"lost","count":3}"#, #"{"offsetUs":0,"kind":"refused","error":{"code":"busy"}}"#,
            #"{"offsetUs":0,"kind":"end","lines":7}"#,
        ])
        #expect(recording.calls.map(\.number) == [1])
        #expect(recording.calls[0].options == .whole([:]))
        #expect(recording.calls[0].outcome == .result(1))
        #expect(recording.calls[0].line == 2)
        #expect(recording.calls[0].endLine == 4)
        #expect(recording.calls[0].took == .microseconds(5))
        #expect(recording.foreignCalls == 1)
        #expect(recording.lostLines == 3)
        #expect(recording.refusals == 1)
        #expect(recording.isWhole)
    }

    @Test("Options with secrets at any depth, and options that were cut, are recognised")
    func options() throws {
        let recording = try read([
            call(1, #","options":"<private>""#), call(2, #","options":{"a":[{"token":"<private>"}]}"#),
            call(3, #","options":"{\"a…","optionsBytes":2000"#), call(4, #","oneWay":true,"options":"a <private>""#),
        ])
        #expect(recording.calls.map(\.options) == [.masked, .masked, .cut, .whole("a <private>")])
        #expect(recording.calls.map(\.isOneWay) == [false, false, false, true])
    }

    @Test("An end is a result, an error, or the beginning of one")
    func ends() throws {
        let recording = try read([
            call(1), call(2), call(3), end(1, #""error":{"code":"busy","message":"m"}"#),
            end(2, #""result":"[1,2…","resultBytes":2000"#), end(9),
        ])
        #expect(
            recording.calls.map(\.outcome) == [
                .error(["code": "busy", "message": "m"]), .cut(isError: false, beginning: "[1,2"), nil,
            ])
    }

    @Test(
        "An invalid line is reported with its number and the expectation",
        arguments: [
            (["{"], 2, "the line is not JSON"), (["[]"], 2, "expected an object; got []"), (["", ""], 2, "not JSON"),
            ([#"{"offsetUs":1}"#], 2, "$.kind: expected a string; got nothing"),
            ([#"{"offsetUs":1,"kind":"x"}"#], 2, "$.kind: expected call, ask"),
            ([#"{"kind":"event"}"#], 2, "$.offsetUs: expected an integer of at least 0; got nothing"),
            ([#"{"offsetUs":-1,"kind":"event"}"#], 2, "got -1"),
            ([call(5), call(4)], 3, "$.offsetUs: expected at least 5"),
            ([call(1), #"{"offsetUs":5,"kind":"call","call":1,"task":"a","options":1}"#], 3, "call 1 began before"),
            ([#"{"offsetUs":5,"kind":"call","call":1,"options":1}"#], 2, "$.task: expected a string"),
            ([#"{"offsetUs":5,"kind":"call","call":1,"task":"a"}"#], 2, "$.options: expected any JSON; got nothing"),
            ([call(1), end(1), end(1)], 4, "call 1 ended before"), ([end(1, #""x":1"#)], 2, "got neither"),
            ([end(1, #""result":1,"error":{}"#)], 2, "got both"),
            ([end(1, #""error":"busy""#)], 2, "$.error: expected an object with a code; got \"busy\""),
            ([#"{"offsetUs":0,"kind":"end"}"#, call(1)], 3, "after the end line"),
        ])
    func faults(lines: [String], line: Int, reason: String) throws {
        let bytes = Array(([header] + lines).joined(separator: "\n").utf8)
        let fault = #expect(throws: RecordingFault.self) { try RecordingReader.read(bytes, file: "r.jsonl") }
        #expect(fault?.line == line)
        #expect(fault?.description.hasPrefix("r.jsonl:\(line): ") == true)
        #expect(fault?.reason.contains(reason) == true, "\(fault?.reason ?? "")")
    }

    @Test(
        "A file that is not a recording of this version is refused at its first line",
        arguments: [
            ("", "empty"), (#"{"trestle":"export","version":1}"#, "not a recording of trestle record"),
            (#"{"trestle":"recording","version":2}"#, "expected version 1; got 2"), ("hello", "not JSON"),
        ])
    func headers(text: String, reason: String) {
        let fault = #expect(throws: RecordingFault.self) { try RecordingReader.read(Array(text.utf8), file: "f") }
        #expect(fault?.line == 1)
        #expect(fault?.reason.contains(reason) == true, "\(fault?.reason ?? "")")
    }

    @Test(
        "A recording with random mutations is either read or refused with a line", arguments: 0..<200 as Range<UInt64>)
    func mutated(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let lines = [header] + ordered([call(1), call(2), end(2), end(1, #""error":{"code":"busy"}"#)])
        let bytes = random.mutate(Array(lines.joined(separator: "\n").utf8))
        do throws(RecordingFault) {
            let recording = try RecordingReader.read(bytes, file: "f")
            #expect(recording.calls.count <= 2)
        } catch {
            #expect(error.line >= 1 && !error.reason.isEmpty)
        }
    }
}

@Suite("Streams in a recording", .timeLimit(.minutes(20)))
struct RecordedStreamTests {
    private let digits = "0123456789abcdef0123456789abcdef"

    private func withoutNames(_ text: String) -> String {
        String(decoding: RecordedStreams.withoutNames(Array(text.utf8)), as: UTF8.self)
    }

    @Test("A stream's name is masked anywhere, also if a payload was cut within it; other text stays")
    func names() {
        #expect(withoutNames(#"{"a":"stream:\#(digits)","b":1}"#) == #"{"a":"<stream>","b":1}"#)
        #expect(withoutNames("see stream:\(digits) and stream:\(digits)") == "see <stream> and <stream>")
        #expect(withoutNames(#""{\"a\":\"stream:0123…""#) == #""{\"a\":\"<stream>…""#)
        for text in ["", "stream:", "stream: 1", "stream:0123", "stream:\(digits.uppercased())", "plain"] {
            #expect(withoutNames(text) == text)
        }
    }

    @Test("A value that a task's schema declares as a stream is masked; each task is looked up once")
    func schemas() async {
        let stream: JSON = ["type": "string", "format": "trestle-stream"]
        let places = RecordedStreams.Places(
            options: StreamSchema(["properties": ["photo": stream]]), result: StreamSchema(stream))
        var streams = RecordedStreams()
        var lookups = 0
        func masked(_ line: JSON) async -> JSON {
            await streams.masked(line) { _ in
                lookups += 1
                return places
            }
        }
        let call: JSON = ["kind": "call", "task": "add", "options": ["photo": "x", "name": "y"]]
        #expect(await masked(call)["options"] == ["photo": "<stream>", "name": "y"])
        #expect(await masked(["kind": "callback", "task": "add", "result": "x"])["result"] == "<stream>")
        #expect(await masked(["kind": "event", "event": "add"]) == ["kind": "event", "event": "add"])
        #expect(lookups == 1)
    }
}

@Suite("The plan of a replay")
struct ReplayPlanTests {
    private func plan(_ lines: [String], provided: Set<String> = []) throws -> ReplayPlan {
        ReplayPlan(try read(lines), provided: provided)
    }

    @Test("makes a call wait for the calls that had ended before it, and for no others")
    func order() throws {
        let plan = try plan([call(1), call(2), end(2), call(3), end(1), end(3), call(4), end(4)])
        #expect(plan.ends == [2, 1, 3, 4])
        #expect(plan.steps.map(\.after) == [0, 0, 1, 3])
        var ends = ReplayEnds(plan)
        ends.add(1)
        #expect(ends.front == 0)
        ends.add(2)
        #expect(ends.front == 2)
        ends.add(99)
        #expect(!ends.areAllThere)
        ends.add(4)
        ends.add(3)
        #expect(ends.areAllThere)
    }

    @Test("makes no call wait for a call that is not sent")
    func skipped() throws {
        let plan = try plan([call(1, #","options":"<private>""#), end(1), call(2), end(2)])
        #expect(plan.steps.map(\.call.number) == [2])
        #expect(plan.steps.map(\.after) == [0])
        #expect(plan.ends == [2])
    }

    @Test("contains a reason for each call that cannot be sent")
    func reasons() throws {
        let forwarded = #"{"offsetUs":0,"kind":"forward","call":5,"task":"scan","to":3}"#
        let lines = [
            call(1, #","options":"<private>""#), end(1), call(2, #","options":"a…","optionsBytes":2000"#), end(2),
            call(3), call(4), end(4, #""error":{"code":"call.cancelled"}"#), call(5, task: "scan"), forwarded, end(5),
            call(6, task: "bridge.kill"), end(6), call(7), end(7), call(8, #","oneWay":true,"options":1"#),
            call(9, #","options":{"photos":["<stream>"]}"#), end(9), call(10),
            end(10, #""result":{"file":"<stream>"}"#),
            call(11), end(11, #""result":"{\"file\":\"<stream>\",\"te…","resultBytes":2000"#),
            call(12, task: "bridge.stream.new"), end(12),
        ]
        let plan = try plan(lines)
        #expect(plan.skipped.map(\.call.number) == [1, 2, 3, 4, 5, 6, 9, 10, 11, 12])
        let reasons: [ReplayPlan.Reason] = [.masked, .cut, .unended, .unended, .provided, .connection]
        #expect(plan.skipped.map(\.reason) == reasons + [.stream, .stream, .stream, .stream])
        #expect(plan.steps.map(\.call.number) == [7, 8])
        let another = try self.plan(lines, provided: ["scan"])
        #expect(another.steps.map(\.call.number) == [5, 7, 8])
    }
}
