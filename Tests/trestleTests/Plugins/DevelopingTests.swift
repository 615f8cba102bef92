import ArgumentParser
import BridgeJSON
import EventLoop
import Foundation
import Testing

@testable import trestle

@Suite("trestle plugin dev")
struct DevelopingTests {
    private func at(_ milliseconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("Saves that follow each other are one; it is over when nothing has been saved for a while")
    func quiet() {
        var saves = SaveDebounce()
        #expect(saves.due == nil)
        func isOver(_ milliseconds: UInt64) -> Bool { saves.take(at: at(milliseconds)) }
        #expect(!isOver(0))
        saves.save(at: at(1_000))
        saves.save(at: at(1_100))
        #expect(saves.due == at(1_250))
        #expect(!isOver(1_249))
        #expect(isOver(1_250))
        #expect(!isOver(9_000))
        #expect(saves.due == nil)
    }

    @Test("Saves that do not end are over after a while all the same")
    func longest() {
        var saves = SaveDebounce()
        for moment in stride(from: UInt64(1_000), through: 2_950, by: 50) { saves.save(at: at(moment)) }
        #expect(saves.due == at(3_000))
    }

    @Test("A folder says by what is in it how it is built")
    func projects() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "trestle-dev-\(UUID().uuidString)")
        let path = folder.path(percentEncoded: false)
        let files = FileManager.default
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        func touch(_ name: String) throws { try Data().write(to: folder.appending(path: name)) }

        #expect(throws: ExitCode.self) { try PluginProject(path, plugin: nil) }
        try touch("Makefile")
        #expect(try PluginProject(path, plugin: nil).command == ["make"])
        try touch("a.plugin.toml")
        let made = try PluginProject(path, plugin: nil)
        #expect(made.command == ["make"])
        #expect(try made.plugin() == "\(made.folder)/a.plugin.toml")
        try files.removeItem(at: folder.appending(path: "Makefile"))
        let worker = try PluginProject(path, plugin: nil)
        #expect(worker.command == nil)
        #expect(try worker.plugin() == "\(worker.folder)/a.plugin.toml")
        try touch("b.plugin.toml")
        let error = #expect(throws: ProjectFailure.self) { try worker.plugin() }
        #expect(error?.description.contains("--plugin") == true)
        try touch("Package.swift")
        let package = try PluginProject(path, plugin: nil)
        #expect(package.command == ["swift", "build"])
        #expect(throws: ProjectFailure.self) { try package.plugin() }
    }

    @Test("What a build writes is no save")
    func products() {
        for name in [".build", ".git", "build", "__pycache__", "libX.so", "x.o", "x.swift~", ".x.swp"] {
            #expect(PluginProject.isProduct(name), "\(name)")
        }
        for name in ["Sources", "x.swift", "x.c", "x.plugin.toml", "x.py", "Makefile", "builder"] {
            #expect(!PluginProject.isProduct(name), "\(name)")
        }
    }

    @Test(
        "What a plugin writes soon after it was loaded reloads it twice, and then no more; saves of sources always do")
    func ownWrites() {
        var writes = OwnWrites()
        var content = 0
        func written(_ path: String, at milliseconds: UInt64, changes: Bool = true) -> OwnWrites.Verdict {
            if changes { content += 1 }
            return writes.take(["/p/\(path)"], at: at(milliseconds)) { _ in content }
        }
        writes.load(at: at(0))
        #expect(written("x.log", at: 100) == .reload)
        #expect(written("y.log", at: 200) == .reload)
        // A save between them begins anew.
        #expect(written("x.py", at: 300) == .reload)
        #expect(written("x.log", at: 400) == .reload)
        #expect(written("x.log", at: 500) == .reload)
        #expect(written("x.log", at: 600) == .leaveOut(["/p/x.log"]))
        #expect(written("x.log", at: 700) == .ignore)
        for moment in UInt64(800)..<810 { #expect(written("x.py", at: moment) == .reload) }
        // One that is written as it was is none.
        for moment in UInt64(820)..<822 { #expect(written("x.py", at: moment, changes: false) == .reload) }
        #expect(written("x.py", at: 830, changes: false) == .leaveOut(["/p/x.py"]))
        // Long after the plugin was loaded somebody saves.
        for moment in UInt64(10_000)..<10_010 { #expect(written("page.html", at: moment) == .reload) }
    }

    @Test("Calls of tasks and the plugin's own calls and events are shown, and not what the daemon does for others")
    func traffic() {
        for shown: JSON in [
            ["kind": "call", "task": "greet"], ["kind": "call", "task": "bridge.tasks", "plugin": "greeter"],
            ["kind": "event", "event": "greet.signed"],
        ] {
            #expect(DevelopmentDaemon.isOfInterest(shown), "\(shown)")
        }
        for hidden: JSON in [
            ["kind": "call", "task": "bridge.hello"], ["kind": "callback", "task": "plugin.describe"],
            ["kind": "event", "event": "session.opened"], ["kind": "event", "event": "plugin.started"],
        ] {
            #expect(!DevelopmentDaemon.isOfInterest(hidden), "\(hidden)")
        }
    }
}
