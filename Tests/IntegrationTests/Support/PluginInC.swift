import TestSupport
/// A plugin in C that a test compiles. Its one task answers with the plugin's name unless `call` is replaced.
struct PluginInC {
    var name = "specimen"
    var task = "specimen"
    var version = "1"
    var abi = "TRESTLE_ABI"
    /// The size of the plugin's table that the plugin declares.
    var size = "sizeof(trestle_plugin)"
    /// The launch workers of the manifest, in JSON. Each of them fails.
    var launchWorkers = "[]"
    /// The body of `start`: statements in C, with `request` and `host`; empty for no such function.
    var start = ""
    /// The body of `call`: statements in C, with `request` and `host`.
    var call = #"host->reply(host, request->call, text("\"" NAME "\""));"#
    /// The body of `cancel`: statements in C, with `reason`; empty for no such function.
    var cancel = ""
    /// The interceptors of the manifest, in JSON; empty for none.
    var interceptors = ""
    /// The body of `intercept`: statements in C, with `request` and `host`.
    var intercept = #"host->reply(host, request->call, text("{\"pass\":true}"));"#
    /// Further definitions before the functions.
    var definitions = ""

    private var manifest: String {
        #"{"name":"\#(name)","version":"\#(version)","tasks":[{"name":"\#(task)","summary":"A specimen.","optionBytes":2147483647}],"#
            + #""launchWorkers":\#(launchWorkers),"interceptors":[\#(interceptors)]}"#
    }

    private var source: String {
        """
        #include "trestle_plugin.h"
        #include <pthread.h>
        #include <string.h>
        #define NAME "\(name)"
        static const trestle_host *host;
        static trestle_bytes text(const char *string) { return (trestle_bytes){string, strlen(string)}; }
        \(definitions)
        static void attach(void *context, const trestle_host *table) { host = table; }
        static void start(void *context, const trestle_request *request) { \(start) }
        static void call(void *context, const trestle_request *request) { \(call) }
        static void cancel(void *context, trestle_call call, uint32_t reason) { \(cancel) }
        static void intercept(void *context, const trestle_request *request) { \(intercept) }
        static void fail(const trestle_request *request, const char *why) {
            host->fail(host, request->call, &(trestle_error){.size = sizeof(trestle_error), .abi = TRESTLE_ABI,
                .code = text("internal"), .message = text(why), .retry_after_ns = -1});
        }
        static void launch(void *context, const trestle_request *request) { fail(request, "the disk is upside down"); }
        static const char manifest[] = "\(manifest.escapedForC)";
        static const trestle_plugin table = {
            .size = \(size), .abi = \(abi), .manifest = {manifest, sizeof manifest - 1},
            .attach = attach, .start = \(start.isEmpty ? "0" : "start"), .launch = launch, .call = call,
            .cancel = \(cancel.isEmpty ? "0" : "cancel"),
            .intercept = \(interceptors.isEmpty ? "0" : "intercept")};
        const trestle_plugin *trestle_plugin_entry(void) { return &table; }
        """
    }

    /// Compiles the plugin. Returns the path of the library.
    @discardableResult
    func build(in folder: TemporaryFolder, as library: String? = nil) throws -> String {
        let path = folder.file(library ?? "lib\(name).so")
        try compile(source, in: folder, to: path)
        return path
    }
}

/// Compiles C code to a shared library.
func compile(_ source: String, in folder: TemporaryFolder, to path: String) throws {
    let file = try folder.write(source, to: "source.c")
    let header = Paths.package + "/Sources/C/CTaskPlugin/include"
    let compiler = try run("/usr/bin/cc", ["-shared", "-fPIC", "-pthread", "-I", header, "-o", path, file])
    guard compiler.end == .exited(0) else { throw TestFailure("the plugin cannot be compiled:\n\(compiler.errors)") }
}

extension String {
    fileprivate var escapedForC: String {
        reduce(into: "") { text, character in
            if character == "\"" || character == "\\" { text.append("\\") }
            text.append(character)
        }
    }
}
