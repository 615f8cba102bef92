import BridgeClient
import BridgeJSON
import TestSupport
import Testing

@Suite(
    "Downloads of pages", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible && OddServer.isPossible, "\(WebRun.needs); needs openssl"))
struct DownloadTests {
    @Test("downloads: saved in the folder under a harmless name, without overwriting a file")
    func downloads() async throws {
        try await WebRun.with { run in
            let odd = try OddServer()
            let allow = "allow = [\"\(odd.origin)\"]\n"
            try await run.startPage(
                profile: allow + "[downloads]\nfolder = \"\(run.homePath)\"\n[tasks]\nevents = [\"web.download.*\"]\n")
            var events = try await run.bridge.subscribe(to: "web.download.*").makeAsyncIterator()
            for name in ["evil.txt", "evil (1).txt"] {
                _ = try? await run.navigate("\(odd.origin)/file")
                while let event = try await events.next() {
                    guard event.name == "web.download.finished" else {
                        #expect(event.name != "web.download.failed")
                        continue
                    }
                    let path = "\(run.homePath)/\(name)"
                    #expect(event.data["path"]?.stringValue == path)
                    #expect(contents(of: path).utf8.count == 10_000)
                    break
                }
            }
            await run.expect("web.downloads.cancel", ["download": 99], "download.not_found")
        }
    }

    @Test("without a folder nothing is downloaded")
    func noDownloads() async throws {
        try await WebRun.with { run in
            let odd = try OddServer()
            try await run.startPage("--allow", odd.origin)
            var events = try await run.bridge.subscribe(to: "web.navigation.failed").makeAsyncIterator()
            _ = try? await run.navigate("\(odd.origin)/file")
            #expect(try await events.next()?.data["code"] == "cancelled")
            let list = try await run.bridge.call("web.downloads.list", as: JSON.self)
            #expect(list == ["downloads": []])
        }
    }
}
