import BridgeJSON
import Testing

@testable import trestle

@Suite("Generated code", .timeLimit(.minutes(20)))
struct GeneratingTests {
    private func typescript(_ tasks: [JSON], patterns: [String] = []) -> String {
        GeneratedModule(language: .typescript, daemon: "trestled 1.2.3", patterns: patterns).text(tasks)
    }

    private func python(_ tasks: [JSON], patterns: [String] = []) -> String {
        GeneratedModule(language: .python, daemon: "trestled 1.2.3", patterns: patterns).text(tasks)
    }

    private let find: JSON = [
        "name": "notes.find", "summary": "Finds notes.",
        "options": [
            "type": "object", "required": ["table", "kind"],
            "properties": [
                "table": ["type": "string", "description": "Where to look."],
                "kind": ["enum": ["new", "old", nil], "default": "new"],
                "limit": ["type": ["integer", "null"]],
                "where": ["type": "object"],
            ],
        ],
        "result": ["type": "array", "items": ["type": "object", "properties": ["not-a-name": ["type": "number"]]]],
        "progress": ["type": "integer"],
    ]

    @Test("A task becomes documented types and a function in TypeScript")
    func inTypeScript() {
        #expect(
            typescript([find]) == """
                // Typed calls of the tasks of Trestle's daemon.
                //
                // Do not edit: generated from the tasks of trestled 1.2.3 by
                //
                //     trestle generate --language typescript
                //
                // With --check FILE, the command checks whether the file is up to date.

                import type { Bridge, CallSettings } from "trestle-bridge";

                /** The options of notes.find. */
                export type NotesFindOptions = {
                    /** Where to look. */
                    table: string;
                    /** Default: "new" */
                    kind: "new" | "old" | null;
                    limit?: number | null;
                    where?: { [key: string]: any };
                };

                /** The result of notes.find. */
                export type NotesFindResult = Array<NotesFindResultItem>;

                export type NotesFindResultItem = {
                    "not-a-name"?: number;
                };

                /** An intermediate result of notes.find. */
                export type NotesFindProgress = number;

                /** Finds notes. */
                export function notesFind(
                    bridge: Bridge, options: NotesFindOptions, settings?: CallSettings<NotesFindProgress>
                ): Promise<NotesFindResult> {
                    return bridge.call<NotesFindResult, NotesFindOptions, NotesFindProgress>(
                        "notes.find", options, settings);
                }

                """)
    }

    @Test("A task becomes documented types, a function and an asyncio function in Python")
    func inPython() {
        #expect(
            python([find], patterns: ["notes.*", "it's"]) == #"""
                """Typed calls of the tasks of Trestle's daemon.

                Do not edit: generated from the tasks of trestled 1.2.3 by

                    trestle generate --language python --task 'notes.*' 'it'\\''s'

                With --check FILE, the command checks whether the file is up to date.
                """

                from typing import Any, Callable, Literal, Optional, TypeAlias, TypedDict, Union

                from trestle_bridge import Bridge, Retry, aio


                class _NotesFindOptionsRequired(TypedDict):
                    # Where to look.
                    table: str
                    # Default: "new"
                    kind: Union[Literal["new", "old"], None]


                class NotesFindOptions(_NotesFindOptionsRequired, total=False):
                    """The options of notes.find."""

                    limit: Union[int, None]
                    where: dict[str, Any]


                # The result of notes.find.
                NotesFindResult: TypeAlias = list["NotesFindResultItem"]


                _NotesFindResultItemOptional = TypedDict(
                    "_NotesFindResultItemOptional",
                    {
                        "not-a-name": float,
                    }, total=False,
                )


                class NotesFindResultItem(_NotesFindResultItemOptional):
                    pass


                # An intermediate result of notes.find.
                NotesFindProgress: TypeAlias = int


                def notes_find(
                    bridge: Bridge,
                    options: NotesFindOptions,
                    *,
                    timeout: Optional[float] = None,
                    on_progress: Optional[Callable[[NotesFindProgress], None]] = None,
                    session: Optional[int] = None,
                    retry: Retry = "never",
                ) -> NotesFindResult:
                    """Finds notes."""
                    result: NotesFindResult = bridge.call(
                        "notes.find", options, timeout=timeout, on_progress=on_progress, session=session, retry=retry
                    )
                    return result


                async def notes_find_async(
                    bridge: aio.Bridge,
                    options: NotesFindOptions,
                    *,
                    timeout: Optional[float] = None,
                    on_progress: Optional[Callable[[NotesFindProgress], None]] = None,
                    session: Optional[int] = None,
                    retry: Retry = "never",
                ) -> NotesFindResult:
                    """Finds notes."""
                    result: NotesFindResult = await bridge.call(
                        "notes.find", options, timeout=timeout, on_progress=on_progress, session=session, retry=retry
                    )
                    return result

                """#)
    }

    @Test("Options accept a stream as bytes or by name; results contain its name")
    func streams() {
        let stream: JSON = ["type": "string", "format": "trestle-stream"]
        let photo: JSON = ["type": "object", "required": ["photo"], "properties": ["photo": stream]]
        let task: JSON = ["name": "photos.turn", "summary": "Turns.", "options": photo, "result": photo]
        let (types, module) = (typescript([task]), python([task]))
        #expect(types.contains("import type { Bridge, CallSettings, StreamValue } from \"trestle-bridge\";"))
        #expect(types.contains("    photo: StreamValue | ReadableStream<Uint8Array> | string;\n"))
        #expect(types.contains("export type PhotosTurnResult = {\n    photo: string;\n};"))
        #expect(module.contains("from trestle_bridge import Bridge, Retry, Stream, aio\n"))
        #expect(module.contains("    photo: Union[Stream, str]\n"))
        #expect(module.contains("    \"\"\"The result of photos.turn.\"\"\"\n\n    photo: str\n"))
    }

    @Test("Tasks are sorted by name, whatever the daemon's order")
    func order() {
        let tasks: [JSON] = ["b", "a.b", "a-b", "a_b"].map { ["name": $0] }
        #expect(typescript(tasks) == typescript(tasks.reversed()))
        #expect(python(tasks) == python(tasks.reversed()))
    }

    @Test("An unknown schema accepts any JSON, and its options may be omitted")
    func unknown() {
        let text = typescript([["name": "x", "options": true, "result": true, "progress": nil]])
        #expect(text.contains("export type XOptions = unknown;"))
        #expect(text.contains("export type XResult = JSONValue;"))
        #expect(text.contains("bridge: Bridge, options: XOptions = {}, settings?: CallSettings\n"))
        #expect(python([["name": "x"]]).contains("options: XOptions = _NO_OPTIONS,"))
    }

    @Test("Capacitor's headers contain the daemon's plugins, which replace other plugins of the same name")
    func forCapacitor() {
        let tasks: [JSON] = [["name": "Echo"], ["name": "files.open"], ["name": "files.removeListener"]]
        #expect(
            CapacitorHeaders.text(tasks, header: ["From a test.", "", "Not to be edited."]) == """
                // From a test.
                //
                // Not to be edited.

                window.Capacitor = window.Capacitor || {};
                window.Capacitor.PluginHeaders = ((others, own) => [
                    ...others.filter(({ name }) => !own.some((plugin) => plugin.name === name)),
                    ...own,
                ])(window.Capacitor.PluginHeaders || [], [
                    {
                        name: "Trestle",
                        methods: [
                            { name: "Echo", rtype: "promise" },
                            { name: "addListener", rtype: "callback" },
                            { name: "removeListener", rtype: "callback" },
                            { name: "removeAllListeners", rtype: "promise" },
                        ],
                    },
                    {
                        name: "files",
                        methods: [
                            { name: "open", rtype: "promise" },
                            { name: "removeListener", rtype: "promise" },
                            { name: "addListener", rtype: "callback" },
                            { name: "removeAllListeners", rtype: "promise" },
                        ],
                    },
                ]);

                """)
    }

    @Test("A module is generated even without tasks")
    func empty() {
        #expect(typescript([]).hasSuffix("export {};\n"))
        #expect(python([]).hasSuffix("\"\"\"\n"))
    }

    @Test("Patterns select tasks; a pattern without a match is refused")
    func patterns() throws {
        let tasks: [JSON] = [["name": "a.b"], ["name": "a.c"], ["name": "d"]]
        #expect(try TaskChoice(patterns: []).choose(from: tasks) == tasks)
        #expect(try TaskChoice(patterns: ["a.*"]).choose(from: tasks) == [["name": "a.b"], ["name": "a.c"]])
        #expect(try TaskChoice(patterns: ["d", "a.b"]).choose(from: tasks) == [["name": "a.b"], ["name": "d"]])
        #expect(throws: UsageFailure.self) { try TaskChoice(patterns: ["d", "e*"]).choose(from: tasks) }
    }

    @Test("The first line that differs from a file is reported")
    func difference() {
        func line(_ left: String, _ right: String) -> Int? {
            GeneratedDifference.firstLine(of: Array(left.utf8), against: Array(right.utf8))
        }
        #expect(line("a\nb\n", "a\nb\n") == nil)
        #expect(line("a\nb\n", "a\nc\n") == 2)
        #expect(line("a\nb\n", "a\n") == 2)
        #expect(line("", "a") == 1)
    }
}

@Suite("Names in generated code", .timeLimit(.minutes(20)))
struct GeneratedNamesTests {
    @Test(
        "Any name becomes an identifier",
        arguments: [
            ("persistence.create", "persistenceCreate", "PersistenceCreate", "persistence_create"),
            ("closeWeb", "closeWeb", "CloseWeb", "close_web"), ("Echo", "echo", "Echo", "echo"),
            ("web-view.URLOpen", "webViewURLOpen", "WebViewURLOpen", "web_view_url_open"),
            ("9lives", "task9lives", "Task9lives", "task_9lives"), ("---", "task", "Task", "task"),
            ("天气", "task", "Task", "task"), ("", "task", "Task", "task"),
        ])
    func identifiers(name: String, camel: String, pascal: String, snake: String) {
        #expect(NameWords.camel(name) == camel)
        #expect(NameWords.pascal(name) == pascal)
        #expect(NameWords.snake(name) == snake)
    }

    @Test("No name is used twice, and no reserved name is used")
    func collisions() {
        var names = GeneratedNames(reserved: ["delete"])
        #expect(names.take("delete") == "delete2")
        #expect(names.take("a") == "a")
        #expect(names.take("a") == "a2")
        #expect(names.take("a2") == "a2_2")
        #expect(names.take("b", endings: ["_async"]) == "b")
        #expect(names.take("b_async") == "b_async2")
    }

    @Test("Tasks whose identifiers collide get separate functions that call them by their own names")
    func tasks() {
        let tasks: [JSON] = [["name": "a.b"], ["name": "a-b"], ["name": "delete"], ["name": "list"]]
        let typescript = GeneratedModule(language: .typescript, daemon: "d", patterns: []).text(tasks)
        for part in ["function aB(", "\"a-b\", options", "function aB2(", "\"a.b\", options", "function delete2("] {
            #expect(typescript.contains(part), "\(part)")
        }
        let python = GeneratedModule(language: .python, daemon: "d", patterns: []).text(tasks)
        for part in ["def a_b(", "def a_b2(", "async def a_b2_async(", "def delete(", "def list2("] {
            #expect(python.contains(part), "\(part)")
        }
    }
}
