import DurableDatabase
import Glibc
import TaskKit
import TaskKitTesting
import Testing

@testable import CookiesTasks

@Suite("What others may keep in mind about cookies")
struct CookieMarkTests {
    private func with(_ body: (EngineUnderTest, ChangeMark) throws -> Void) throws {
        let stage = try EngineUnderTest()
        defer { stage.remove() }
        try body(stage, ChangeMark(of: stage.path))
    }

    private func take(_ stage: EngineUnderTest, _ url: JSON, uid: UInt32 = 1000) throws -> JSON {
        try stage.call(TakeTask(service: stage.service), ["url": url], uid: uid)
    }

    @Test("A host is cookieless where no cookie is of its registrable domain, whatever the request")
    func cookieless() throws {
        try with { stage, _ in
            #expect(try take(stage, "https://a.example/") == ["header": "", "cookieless": true])
            try stage.set("a=1; Path=/deep; Secure")
            #expect(try take(stage, "https://a.example/") == ["header": ""])
            #expect(try take(stage, "http://b.a.example/") == ["header": ""])
            #expect(try take(stage, "https://a.example/deep") == ["header": "a=1"])
            #expect(try take(stage, "https://b.example/") == ["header": "", "cookieless": true])
            #expect(try take(stage, "https://a.example/", uid: 1001) == ["header": "", "cookieless": true])
        }
    }

    @Test("The mark changes with each cookie that is set, and neither with requests nor where cookies go")
    func mark() throws {
        try with { stage, mark in
            var before = try #require(mark.value)
            try stage.set("a=1")
            #expect(mark.value != before)
            before = try #require(mark.value)
            _ = try take(stage, "https://a.example/")
            try stage.set("a=1")
            try stage.call(DeleteTask(service: stage.service), ["domain": "a.example", "name": "a"])
            try stage.set("a=1", profile: "private:1")
            #expect(mark.value == before)
            let put: JSON = ["request": ["url": "https://a.example/"], "lines": ["b=1"]]
            try stage.call(PutTask(service: stage.service), put)
            #expect(mark.value != before)
        }
    }

    @Test("It changes when the store is opened: anything may be different")
    func opened() throws {
        try with { stage, mark in
            let before = mark.value
            _ = try EngineUnderTest(clocks: stage.clocks, directory: stage.directory)
            #expect(mark.value != before)
        }
    }

    @Test("A cookie is not acknowledged, nor there, where the mark cannot be changed")
    func failure() throws {
        try with { stage, _ in
            unlink(stage.path + ".changed")
            mkdir(stage.path + ".changed", 0o700)
            let error = #expect(throws: BridgeError.self) { try stage.set("a=1") }
            #expect(error?.code == .storageFailed)
            #expect(try stage.names() == [])
            rmdir(stage.path + ".changed")
            try stage.set("a=1")
            #expect(try stage.names() == ["a"])
        }
    }
}
