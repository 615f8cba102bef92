import DurableDatabase
import Glibc
import TaskKit
import TaskKitTesting
import Testing

@testable import CookiesTasks

@Suite("The change mark and cookieless hosts")
struct CookieMarkTests {
    private func with(_ body: (EngineUnderTest, ChangeMark) throws -> Void) throws {
        let stage = try EngineUnderTest()
        defer { stage.remove() }
        try body(stage, ChangeMark(of: stage.path))
    }

    private func take(
        _ stage: EngineUnderTest, _ url: JSON, profile: JSON = "default", uid: UInt32 = 1000
    ) throws -> JSON {
        try stage.call(TakeTask(service: stage.service), ["url": url, "profile": profile], uid: uid)
    }

    @Test("A host is cookieless if its registrable domain has no cookie, whatever the request")
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

    @Test("No host is cookieless in a private profile, whose changes do not change the mark")
    func privateProfile() throws {
        try with { stage, _ in
            #expect(try take(stage, "https://a.example/", profile: "private:x") == ["header": ""])
            try stage.set("a=1", profile: "private:x")
            #expect(try take(stage, "https://b.example/", profile: "private:x") == ["header": ""])
        }
    }

    @Test("The mark changes when a cookie is set, but not with requests, removals or private profiles")
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

    @Test("The mark changes when the store is opened, because anything may be different")
    func opened() throws {
        try with { stage, mark in
            let before = mark.value
            _ = try EngineUnderTest(clocks: stage.clocks, directory: stage.directory)
            #expect(mark.value != before)
        }
    }

    @Test("A cookie is not stored if the mark cannot be changed")
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
