import TestSupport
/// A plugin in C that stores its section of the configuration and answers with it. It can apply another section at
/// runtime unless it is set to refuse that.
struct SectionPlugin {
    var name: String
    /// The reason for refusing a section after its check; empty if the plugin applies it.
    var refusal = ""

    private var source: String {
        """
        #include "trestle_plugin.h"
        #include <string.h>
        static const trestle_host *host;
        static char section[4096] = "{}";
        static trestle_bytes text(const char *string) { return (trestle_bytes){string, strlen(string)}; }
        static void attach(void *context, const trestle_host *table) { host = table; }
        static void keep(const trestle_request *request) {
            memcpy(section, request->options.data, request->options.size);
            section[request->options.size] = 0;
            host->reply(host, request->call, text("{}"));
        }
        static void configure(void *context, const trestle_request *request) { keep(request); }
        static void reconfigure(void *context, const trestle_request *request) {
            const char *refusal = "\(refusal)";
            if (request->number == TRESTLE_RECONFIGURE_CHECK)
                host->reply(host, request->call, text("{}"));
            else if (*refusal)
                host->fail(host, request->call, &(trestle_error){.size = sizeof(trestle_error), .abi = TRESTLE_ABI,
                    .code = text("configuration.invalid"), .message = text(refusal), .retry_after_ns = -1});
            else
                keep(request);
        }
        static void call(void *context, const trestle_request *request) {
            host->reply(host, request->call, text(section));
        }
        static const char manifest[] = "{\\"name\\":\\"\(name)\\",\\"version\\":\\"1\\",\\"reloadable\\":true,"
            "\\"tasks\\":[{\\"name\\":\\"\(name)\\",\\"summary\\":\\"Its section.\\"}]}";
        static const trestle_plugin table = {
            .size = sizeof(trestle_plugin), .abi = TRESTLE_ABI, .manifest = {manifest, sizeof manifest - 1},
            .attach = attach, .configure = configure, .call = call, .reconfigure = reconfigure};
        const trestle_plugin *trestle_plugin_entry(void) { return &table; }
        """
    }

    /// Compiles the plugin.
    func build(in folder: TemporaryFolder) throws { try compile(source, in: folder, to: folder.file("lib\(name).so")) }
}
