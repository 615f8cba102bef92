import BridgeJSON
import TestSupport
import Testing

@Suite("trestle conformance", .blocking)
struct ConformanceTests {
    @Test("A daemon with all plugins passes every check, and none is skipped")
    func daemon() throws {
        try withDaemon { daemon in
            let run = try daemon.home.trestle("conformance", "--step-timeout", "10m")
            let lines = try run.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
            for line in lines where line["outcome"] != "passed" { Issue.record("\(line.text)") }
            #expect(run.end == .exited(0))
            #expect(run.errors.contains("\(lines.count) passed, 0 failed, 0 skipped"), "\(run.errors)")
        }
    }

    @Test("A failed check is reported with its position, a missing task skips its checks, and the status is 1")
    func failing() throws {
        try withDaemon { daemon in
            let folder = try TemporaryFolder()
            let wrong =
                #"{"rule":"Wrong.","see":"x","wire":[{"send":{"task":"Echo","options":1,"callbackId":1}},"#
                + #"{"receive":{"callbackId":1,"result":2}}]}"#
            _ = try folder.write(wrong, to: "wrong.json")
            let absent = #"{"rule":"Absent.","see":"x","needs":["no.such"],"client":[{"call":"no.such","result":1}]}"#
            _ = try folder.write(absent, to: "absent.json")
            let client = #"{"rule":"Client.","see":"x","client":[{"call":"Echo","options":1,"error":{"code":"x"}}]}"#
            _ = try folder.write(client, to: "client.json")
            let run = try daemon.home.trestle("conformance", "--vectors", folder.path)
            #expect(run.end == .exited(1))
            let lines = try run.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
            #expect(lines.map { $0["outcome"] } == ["skipped", "failed", "failed"])
            #expect(
                lines[1]["reason"]?.stringValue?.contains("$.client[0]: expected the error") == true, "\(lines[1].text)"
            )
            #expect(lines[2]["reason"]?.stringValue?.contains("$.result: expected 2; got 1") == true)
        }
    }

    @Test("A file that contains no vectors is reported as wrong usage")
    func broken() throws {
        try withDaemon { daemon in
            let folder = try TemporaryFolder()
            _ = try folder.write("{}", to: "broken.json")
            let run = try daemon.home.trestle("conformance", "--vectors", folder.path)
            #expect(run.end == .exited(64))
            #expect(run.errors.contains("broken.json"), "\(run.errors)")
        }
    }
}
