import CTaskPlugin
import Glibc
import TaskKit
import Testing

/// Plugins as the daemon loads them: shared libraries, opened at run time in a process with its own BridgeJSON and
/// TaskKit.
///
/// Disabled under the thread sanitizer: a Swift library built for it looks up functions that the program does not
/// have.
@Suite(
    "A plugin's library", .timeLimit(.minutes(20)), .disabled(if: dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil))
struct LibraryTests {
    /// Opens a library that was built beside the tests, as the daemon does.
    private func load(_ library: String) throws -> UnsafeMutableRawPointer {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &path, path.count)
        let executable = path.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
        let folder = executable.prefix(executable.lastIndex(of: UInt8(ascii: "/")) ?? 0)
        return try #require(
            dlopen(String(decoding: folder, as: UTF8.self) + "/" + library, RTLD_NOW | RTLD_LOCAL),
            "\(String(cString: dlerror()))")
    }

    /// Opens the plugin in a library.
    private func open(_ library: String) throws -> FakeHost {
        let symbol = try #require(dlsym(try load(library), TRESTLE_PLUGIN_ENTRY))
        // C does not declare that a symbol is a function, nor the type of the function.
        let entry = unsafeBitCast(symbol, to: (@convention(c) () -> UnsafePointer<trestle_plugin>?).self)
        return FakeHost(try #require(entry()))
    }

    @Test("in Swift answers, with a TaskKit of its own")
    func echo() async throws {
        let host = try open("libEchoPlugin.so")
        #expect(try host.manifest["tasks"]?[0]?["name"] == "Echo")
        let options = #"{"b":1,  "a":[1e400,"é\u0000"], "b":2}"#
        let handle = await host.onLoop { $0.request(.call(0), options) }
        #expect(await host.onLoop { $0.answers[handle]?.count } == 1)
        #expect(await host.onLoop { $0.lastResultAddress == $0.lastOptionsAddress })
    }

    @Test("does not use this program's copies of the modules, which are not exported")
    func nothingExported() throws {
        let (library, program) = (try load("libEchoPlugin.so"), try #require(dlopen(nil, RTLD_NOW)))
        // The descriptors of TaskKit.Plugin and BridgeJSON.BridgeError.
        for symbol in ["$s7TaskKit6PluginVMn", "$s10BridgeJSON0A5ErrorVMn"] {
            #expect(dlsym(library, symbol) != nil)
            #expect(dlsym(program, symbol) == nil)
        }
    }

    @Test("in C returns the state of the machine, and queries a file system on another thread")
    func sysinfo() async throws {
        let host = try open("libSysinfoPlugin.so")
        let names = (try host.manifest["tasks"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
        #expect(names == ["sysinfo.memory", "sysinfo.load", "sysinfo.uptime", "sysinfo.disk"])
        for (index, member) in ["totalBytes", "processors", "seconds"].enumerated() {
            guard case .result(let answer) = await host.answer(.call(UInt32(index)), "{}") else {
                Issue.record("\(names[index]) failed")
                continue
            }
            #expect(answer[member]?.int64Value ?? 0 > 0, "\(answer)")
        }
        guard case .result(let disk) = await host.answer(.call(3), #"{"path":"/"}"#) else {
            Issue.record("the root has no disk")
            return
        }
        #expect(disk["totalBytes"]?.int64Value != nil && disk["readOnly"]?.boolValue != nil, "\(disk)")
        guard case .error(let error) = await host.answer(.call(3), #"{"path":"tmp"}"#) else {
            Issue.record("what is no path was taken for one")
            return
        }
        #expect(error.code == .optionsInvalid)
    }

    @Test("in C counts, reports its progress, and refuses options that are not an integer")
    func counter() async throws {
        let host = try open("libCounterPlugin.so")
        #expect(try host.manifest["tasks"]?.arrayValue?.count == 2)
        #expect(await host.answer(.call(0), "40") == .result(40))
        #expect(await host.answer(.call(0), "2") == .result(42))
        for options in ["{}", "\"2\"", "1.5", "1e3", "null", "[2]", "99999999999999999999"] {
            guard case .error(let error) = await host.answer(.call(0), options) else {
                Issue.record("\(options) was taken for an integer")
                return
            }
            #expect(error.code == .optionsInvalid)
        }
        guard case .error(let full) = await host.answer(.call(0), "\(Int64.max)") else {
            Issue.record("the counter overflowed")
            return
        }
        #expect(full.code == "counter.full")
        let handle = await host.onLoop { $0.request(.call(1), "4", flags: TRESTLE_REQUEST_PROGRESS) }
        #expect(await host.answer(to: handle) == .result(4))
        #expect(await host.onLoop { $0.progress[handle] } == [1, 2, 3])
        #expect(await host.answer(.call(0), "0") == .result(42))
    }
}
