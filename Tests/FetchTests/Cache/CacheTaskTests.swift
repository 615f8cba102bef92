import HTTPRules
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite(
    "The tasks of the cache", .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"), .timeLimit(.minutes(20)))
struct CacheTaskTests {
    private static let script: JSON = [
        "*": Script.response("abc", headers: "Cache-Control: max-age=60\r\nContent-Type: text/plain\r\n")
    ]

    private static func filter(_ options: JSON) throws -> CacheFilter {
        try JSONCoding.decode(CacheFilter.self, from: options)
    }

    @Test("list and remove only the entries of the caller's user")
    func tasks() async throws {
        try await CachingBridge.with(Self.script) { stage, server in
            for path in ["/1", "/2", "/3"] { try await stage.fetch(server.url(path)) }
            try await stage.fetch(server.url("/1"), uid: 0)
            let (own, other) = (await stage.bridge.session(uid: 1000), await stage.bridge.session(uid: 0))
            let info = try await own.call("http.cache.info")
            #expect(info["count"] == 3 && info["limit"] == 134_217_728)
            #expect(info["origins"]?[0]?["site"] == "local" && info["origins"]?[0]?["count"] == 3)
            let list = try await own.call("http.cache.list")
            #expect(list["entries"]?.arrayValue?.map { $0["url"] } == ["/1", "/2", "/3"].map { server.url($0) })
            #expect(list["entries"]?[0]?["type"] == "text/plain" && list["entries"]?[0]?["complete"] == true)
            #expect(list["next"] == nil)
            let removed = try await own.call("http.cache.remove", ["url": server.url("/2")])
            #expect(removed["removed"] == 1)
            #expect(try await stage.fetch(server.url("/1"))["from"] == "cache")
            #expect(try await stage.fetch(server.url("/2"))["from"] == "network")
            #expect(try await own.call("http.cache.remove", ["all": true])["removed"] == 3)
            #expect(try await own.call("http.cache.info")["bytes"] == 0)
            #expect(try await stage.fetch(server.url("/1"))["from"] == "network")
            #expect(try await other.call("http.cache.info")["count"] == 1)
        }
    }

    @Test("show stored responses as website data of type diskCache, removable by site and time")
    func websiteData() async throws {
        try await CachingBridge.with(Self.script) { stage, server in
            let session = await stage.bridge.session(uid: 1000)
            try await stage.fetch(server.url("/1"))
            stage.clock.advance(10)
            try await stage.fetch(server.url("/2"))
            let types: JSON = ["types": ["diskCache"]]
            let record = try await session.call("data.records", types)["records"]?[0]
            #expect(record?["name"] == "127.0.0.1" && record?["count"] == 2 && record?["bytes"]?.int64Value ?? 0 > 6)
            func remove(_ more: JSONObject) async throws -> JSON? {
                var options: JSONObject = ["types": ["diskCache"]]
                for (name, value) in more { options[name] = value }
                return try await session.call("data.remove", .object(options))["removed"]?["diskCache"]
            }
            #expect(try await remove(["names": ["other.example"]]) == 0)
            #expect(try await remove(["since": .number(JSONNumber(stage.clock.now.seconds))]) == 1)
            #expect(try await stage.fetch(server.url("/1"))["from"] == "cache")
            #expect(try await remove(["names": ["127.0.0.1"]]) == 1)
            #expect(try await stage.fetch(server.url("/1"))["from"] == "network")
        }
    }

    @Test("distinguish a user's profiles, and cover all profiles if none is named")
    func profiles() async throws {
        try await CachingBridge.with(Self.script) { stage, server in
            let session = await stage.bridge.session(uid: 1000)
            try await stage.fetch(server.url("/1"))
            for path in ["/1", "/2"] { try await stage.fetch(server.url(path), ["profile": "work"]) }
            let info = try await session.call("http.cache.info")
            #expect(info["count"] == 3)
            #expect(
                info["origins"]?.arrayValue?.map { [$0["profile"], $0["count"]] } == [["work", 2], ["default", 1]])
            let work = try await session.call("http.cache.info", ["profile": "work"])
            #expect(work["count"] == 2 && work["origins"]?.arrayValue?.count == 1)
            #expect(try await session.call("http.cache.info", ["profile": "other"])["count"] == 0)
            let list = try await session.call("http.cache.list")
            #expect(list["entries"]?.arrayValue?.map { $0["profile"] } == ["default", "work", "work"])
            let one = try await session.call("http.cache.list", ["profile": "default"])
            #expect(one["entries"]?.arrayValue?.map { $0["profile"] } == ["default"])
            #expect(try await session.call("http.cache.remove", ["profile": "work"])["removed"] == 2)
            #expect(try await stage.fetch(server.url("/1"))["from"] == "cache")
            #expect(try await stage.fetch(server.url("/1"), ["profile": "work"])["from"] == "network")
            let error = await #expect(throws: BridgeError.self) {
                try await session.call("http.cache.list", ["profile": "no name"])
            }
            #expect(error?.code == .optionsInvalid)
        }
    }

    @Test("select entries by origin, site and time")
    func selections() async throws {
        try await CachingBridge.with(Self.script) { stage, server in
            let session = await stage.bridge.session(uid: 1000)
            let origin = JSON.string("http://127.0.0.1:\(server.port)")
            try await stage.fetch(server.url("/1"))
            stage.clock.advance(10)
            try await stage.fetch(server.url("/2"))
            for (filter, count) in [
                (["since": .number(JSONNumber(stage.clock.now.seconds))], 1), (["origins": [origin]], 2),
                (["origins": ["http://127.0.0.1"]], 0), (["site": "local"], 2), (["url": server.url("/2")], 1),
                (["url": server.url("/3"), "profile": "default"], 0),
                (["site": "https://page.example"], 0),
            ] as [(JSON, Int)] {
                let list = try await session.call("http.cache.list", filter)
                #expect(list["entries"]?.arrayValue?.count == count, "\(filter)")
                let info = try await session.call("http.cache.info", filter)
                let bytes = list["entries"]?.arrayValue?.reduce(0) { $0 + ($1["bytes"]?.int64Value ?? 0) } ?? -1
                #expect(info["count"] == .number(JSONNumber(count)), "\(filter)")
                #expect(info["bytes"] == .number(JSONNumber(bytes)), "\(filter)")
                #expect(info["origins"]?.arrayValue?.reduce(0) { $0 + ($1["count"]?.int64Value ?? 0) } == Int64(count))
                #expect(try await session.call("http.cache.remove", filter)["removed"] == .number(JSONNumber(count)))
                for path in ["/1", "/2"] { try await stage.fetch(server.url(path)) }
            }
            for wrong: JSON in [[:], ["all": true, "site": "local"], ["urls": []], ["origins": ["x"]]] {
                let error = await #expect(throws: BridgeError.self) {
                    try await session.call("http.cache.remove", wrong)
                }
                #expect(error?.code == .optionsInvalid, "\(wrong)")
            }
        }
    }

    @Test(
        "refuse options that they do not have",
        arguments: [("info", "all"), ("info", "after"), ("list", "all"), ("remove", "after"), ("remove", "other")])
    func unknownOptions(task: String, option: String) async throws {
        try await CachingBridge.with(Self.script) { stage, server in
            let options: JSON = .object(["site": "local", option: option == "all" ? true : 5])
            let error = await #expect(throws: BridgeError.self) {
                try await stage.bridge.session(uid: 1000).call("http.cache.\(task)", options)
            }
            #expect(error?.code == .optionsInvalid && error?.data?["path"] == .string("$.\(option)"))
        }
    }

    @Test("allow a page to select only its own site in the default profile")
    func pages() throws {
        let task = CacheRemoveTask(service: FetchService())
        let page = Caller(session: 1, uid: 1000, gid: 1000, pid: 1, origin: "https://app.shop.example")
        let none = try Self.filter([:])
        #expect(try task.selection(none, page).site == "https://shop.example")
        #expect(try task.selection(none, page).profile == .standard)
        #expect(try task.selection(Self.filter(["profile": "default"]), page).profile == .standard)
        for options: JSON in [["site": "local"], ["site": "https://other.example"], ["profile": "work"]] {
            let filter = try Self.filter(options)
            let error = #expect(throws: BridgeError.self) { try task.selection(filter, page) }
            #expect(error?.code == .permissionDenied)
        }
        let program = Caller(session: 1, uid: 1000, gid: 1000, pid: 1)
        #expect(try task.selection(none, program).site == nil && task.selection(none, program).profile == nil)
    }

    @Test("return lists in pages")
    func listPages() async throws {
        try await CachingBridge.with(Self.script) { stage, server in
            for number in 0..<60 { try await stage.fetch(server.url("/\(number)")) }
            let session = await stage.bridge.session(uid: 1000)
            let first = try await session.call("http.cache.list")
            let next = try #require(first["next"])
            let second = try await session.call("http.cache.list", ["after": next])
            #expect(first["entries"]?.arrayValue?.count == 50 && second["entries"]?.arrayValue?.count == 10)
            #expect(second["next"] == nil)
        }
    }
}
