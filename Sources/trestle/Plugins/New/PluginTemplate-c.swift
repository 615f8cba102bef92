extension PluginTemplate {
    var cFiles: [File] {
        [
            File(
                path: "\(name.text).c",
                text: #"""
                    #include <stdio.h>
                    #include <trestle_json.h>

                    #define MANIFEST "{\"name\":\"\#(name.text)\",\"version\":\"0.1.0\",\"tasks\":[{\"name\":\"\#(name.text)\"," \
                        "\"summary\":\"Greets somebody by name.\",\"options\":{\"type\":\"object\",\"required\":[\"who\"]," \
                        "\"properties\":{\"who\":{\"type\":\"string\",\"maxLength\":100}},\"maxProperties\":1}}]}"

                    static const trestle_host *host;

                    static void attach(void *context, const trestle_host *table) { host = table; }

                    static void call(void *context, const trestle_request *request) {
                        char who[401] = "", quoted[2410], result[2500]; /* At most 100 characters: 400 bytes, or 2,402 as a JSON string. */
                        size_t size = 0;
                        trestle_json_string(request->options, "who", who, sizeof who, &size);
                        trestle_json_quote((trestle_bytes){who, size}, quoted, sizeof quoted);
                        size = (size_t)snprintf(result, sizeof result, "{\"greeting\":\"Hello, %s}", quoted + 1); /* Skips the quote. */
                        host->reply(host, request->call, (trestle_bytes){result, size});
                    }

                    const trestle_plugin *trestle_plugin_entry(void) {
                        static const trestle_plugin plugin = {.size = sizeof plugin, .abi = TRESTLE_ABI,
                            .manifest = {MANIFEST, sizeof MANIFEST - 1}, .attach = attach, .call = call};
                        return &plugin;
                    }

                    """#),
            File(
                path: "Makefile",
                text: """
                    # make: build/lib\(name.camel)Plugin.so; make test: the same, and tests it in its own daemon.

                    CFLAGS ?= -O2 -g
                    # Where trestle_plugin.h and trestle_json.h are.
                    TRESTLE_INCLUDE ?= \(make(paths.header))
                    TRESTLE ?= \(make(paths.program))

                    build/lib\(name.camel)Plugin.so: \(name.text).c
                    \t@mkdir -p build
                    \t$(CC) -std=c11 -Wall -Wextra -Wno-unused-parameter $(CFLAGS) -shared -fPIC -I $(TRESTLE_INCLUDE) -o $@ $<

                    .PHONY: test
                    test: build/lib\(name.camel)Plugin.so
                    \t$(TRESTLE) plugin check $< --call '\(name.text)=\(Self.sampleOptions)'

                    """),
            File(path: ".gitignore", text: "build/\n"),
            readme(
                .c,
                files: [
                    ("\(name.text).c", "the plugin: its manifest, its task, and the function that the daemon calls"),
                    ("Makefile", "builds and tests it"),
                ],
                further: """
                    `trestle_plugin.h` describes the interface, `trestle_json.h` the functions that read options, and
                    docs/plugins.md of Trestle the manifest.
                    """),
        ]
    }
}
