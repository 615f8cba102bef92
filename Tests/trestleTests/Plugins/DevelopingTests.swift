import ArgumentParser
import BridgeJSON
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import trestle

@Suite("trestle plugin dev")
struct DevelopingTests {
    private func at(_ milliseconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("Successive saves count as one, which is due after a quiet period")
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

    @Test("Continuous saves are due after a maximum delay")
    func longest() {
        var saves = SaveDebounce()
        for moment in stride(from: UInt64(1_000), through: 2_950, by: 50) { saves.save(at: at(moment)) }
        #expect(saves.due == at(3_000))
    }

    @Test("The build command depends on the files in the folder")
    func projects() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "trestle-dev-\(UUID().uuidString)")
        let path = folder.path(percentEncoded: false)
        let files = FileManager.default
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        func touch(_ name: String) throws { try Data().write(to: folder.appending(path: name)) }

        #expect(throws: UsageFailure.self) { try PluginProject(path, plugin: nil) }
        try touch("Makefile")
        #expect(try PluginProject(path, plugin: nil).command == ["make"])
        try touch("a.plugin.toml")
        let made = try PluginProject(path, plugin: nil)
        #expect(made.command == ["make"])
        #expect(try made.plugin() == "\(made.folder)/a.plugin.toml")
        try files.removeItem(at: folder.appending(path: "Makefile"))
        let process = try PluginProject(path, plugin: nil)
        #expect(process.command == nil)
        #expect(try process.plugin() == "\(process.folder)/a.plugin.toml")
        try touch("b.plugin.toml")
        let error = #expect(throws: ProjectFailure.self) { try process.plugin() }
        #expect(error?.description.contains("--plugin") == true)
        try touch("Package.swift")
        let package = try PluginProject(path, plugin: nil, cache: { _ in nil })
        #expect(package.command == ["swift", "build"])
        #expect(
            try PluginProject(path, plugin: nil, isRelease: true, cache: { _ in nil }).command == [
                "swift", "build", "-c", "release",
            ])
        #expect(throws: ProjectFailure.self) { try package.plugin() }
    }

    private func makeFolder(_ folder: TemporaryFolder, _ name: String) throws {
        try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
    }

    /// Writes the manifest of a Swift plugin with this name and, if requested, another dependency.
    private func package(_ name: String, in folder: TemporaryFolder, at path: String, extra: String = "") throws {
        try makeFolder(folder, path)
        try folder.write(
            """
            let package = Package(
                products: [.library(name: "\(name)Plugin", type: .dynamic, targets: [])],
                dependencies: [.package(name: "trestle", path: "/t"),
                    \(extra)]

            """, to: "\(path)/Package.swift")
    }

    @Test("Swift plugins that depend only on TaskKit share a scratch folder; others have their own")
    func shared() throws {
        let folder = try TemporaryFolder()
        try package("One", in: folder, at: "one")
        try package("Two", in: folder, at: "two")
        try package("One", in: folder, at: "other")
        try package("Three", in: folder, at: "three", extra: ".package(url: \"u\")")
        let cache = folder.file("cache")
        func scratch(_ path: String) throws -> SharedScratch? {
            try PluginProject(folder.file(path), plugin: nil, cache: { _ in cache }).shared
        }
        let one = try #require(try scratch("one"))
        #expect(one.path.hasPrefix("\(cache)/"))
        #expect(try scratch("two")?.path == one.path)
        #expect(try scratch("two")?.library == "\(one.path)/debug/libTwoPlugin.so")
        #expect(try PluginProject(folder.file("one"), plugin: nil, cache: { _ in cache }).command?.last == one.path)
        // Another plugin of the same name would overwrite the library while this plugin exists.
        #expect(try scratch("other") == nil)
        #expect(try scratch("one") == one)
        unlink(folder.file("one/Package.swift"))
        #expect(try scratch("other")?.path == one.path)
        #expect(try scratch("three") == nil)
        // A plugin that was built by hand before is still built in its own folder.
        try makeFolder(folder, "two/.build")
        try folder.write("{}", to: "two/.build/workspace-state.json")
        #expect(try scratch("two") == nil)
    }

    @Test("A release build shares the folder, and its library is beside the debug library")
    func sharedRelease() throws {
        let folder = try TemporaryFolder()
        try package("One", in: folder, at: "one")
        try package("Two", in: folder, at: "two")
        func project(_ directory: String, isRelease: Bool) throws -> PluginProject {
            try PluginProject(folder.file(directory), plugin: nil, isRelease: isRelease) { _ in folder.file("cache") }
        }
        let path = try #require(try project("one", isRelease: false).shared?.path)
        for (directory, name) in [("one", "One"), ("two", "Two")] {
            let release = try project(directory, isRelease: true)
            #expect(release.command == ["swift", "build", "-c", "release", "--scratch-path", path])
            #expect(release.shared?.library == "\(path)/release/lib\(name)Plugin.so")
        }
    }

    @Test(
        "Builds by root for a folder's owner use the owner's cache, which is created with the owner's rights",
        .enabled(if: geteuid() == 0, "needs root"))
    func sharedOfOwner() throws {
        let folder = try TemporaryFolder()
        let nobody: UInt32 = 65_534
        try package("One", in: folder, at: "one")
        try makeFolder(folder, "home")
        try makeFolder(folder, "roots")
        for path in [folder.path, folder.file("one"), folder.file("one/Package.swift")] { chmod(path, 0o755) }
        chmod(folder.file("roots"), 0o700)
        for path in ["one", "home"] { chown(folder.file(path), nobody, nobody) }
        func shared(_ cache: String) throws -> SharedScratch? {
            try PluginProject(folder.file("one"), plugin: nil, isRelease: true) { user in
                #expect(user?.identity.id == nobody)
                return folder.file(cache)
            }.shared
        }
        let scratch = try #require(try shared("home/cache"))
        var status = stat()
        #expect(stat("\(scratch.path)/plugins/OnePlugin", &status) == 0)
        #expect(status.st_uid == nobody && geteuid() == 0)
        // A symbolic link by that user must not redirect root.
        symlink(folder.file("roots"), folder.file("home/link"))
        #expect(try shared("home/link") == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("roots")).isEmpty)
    }

    @Test("A library in the shared folder is linked to the place of a build by hand")
    func linked() throws {
        let folder = try TemporaryFolder()
        try package("One", in: folder, at: "one")
        let project = try PluginProject(folder.file("one"), plugin: nil, cache: { _ in folder.file("cache") })
        let shared = try #require(project.shared)
        #expect(throws: ProjectFailure.self) { try project.plugin() }
        for _ in 0..<2 {
            try makeFolder(folder, String(shared.path.dropFirst(folder.path.count + 1)) + "/debug")
            try folder.write("library", to: String(shared.library.dropFirst(folder.path.count + 1)))
            shared.link(into: project.folder)
            #expect(try project.plugin() == shared.library)
            #expect(contents(of: folder.file("one/.build/debug/libOnePlugin.so")) == "library")
        }
    }

    @Test("A shared folder that was not used for long is removed, and nothing else")
    func unused() throws {
        let folder = try TemporaryFolder()
        try package("One", in: folder, at: "one")
        for (name, isOld) in [("0.0.9-old", true), ("0.0.9-new", false)] {
            try makeFolder(folder, "cache/\(name)/plugins")
            guard isOld else { continue }
            var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
            utimensat(AT_FDCWD, folder.file("cache/\(name)/plugins"), &times, 0)
        }
        try makeFolder(folder, "cache/somebody-elses")
        let used = try #require(
            try PluginProject(folder.file("one"), plugin: nil, cache: { _ in folder.file("cache") }).shared)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.file("cache"))
        #expect(
            Set(left.map { "\(folder.file("cache"))/\($0)" }) == [
                used.path, folder.file("cache/0.0.9-new"), folder.file("cache/somebody-elses"),
            ])
    }

    @Test("A build product does not count as a save")
    func products() {
        for name in [".build", ".git", "build", "__pycache__", "libX.so", "x.o", "x.swift~", ".x.swp"] {
            #expect(PluginProject.isProduct(name), "\(name)")
        }
        for name in ["Sources", "x.swift", "x.c", "x.plugin.toml", "x.py", "Makefile", "builder"] {
            #expect(!PluginProject.isProduct(name), "\(name)")
        }
    }

    @Test("A plugin's own writes after loading reload it at most twice; saves of sources always reload it")
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
        // A save in between restarts the count.
        #expect(written("x.py", at: 300) == .reload)
        #expect(written("x.log", at: 400) == .reload)
        #expect(written("x.log", at: 500) == .reload)
        #expect(written("x.log", at: 600) == .leaveOut(["/p/x.log"]))
        #expect(written("x.log", at: 700) == .ignore)
        for moment in UInt64(800)..<810 { #expect(written("x.py", at: moment) == .reload) }
        // A write without a change is not a save.
        for moment in UInt64(820)..<822 { #expect(written("x.py", at: moment, changes: false) == .reload) }
        #expect(written("x.py", at: 830, changes: false) == .leaveOut(["/p/x.py"]))
        // Long after loading, each write is a save.
        for moment in UInt64(10_000)..<10_010 { #expect(written("page.html", at: moment) == .reload) }
    }

    @Test("Calls of tasks and the plugin's own calls and events are shown; the daemon's internal traffic is not")
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
