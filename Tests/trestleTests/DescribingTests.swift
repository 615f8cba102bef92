import BridgeJSON
import Testing

@testable import trestle

@Suite("A task's page")
struct TaskPageTests {
    private let description: JSON = [
        "name": "notes.find", "summary": "Finds notes.", "permission": "notes.read", "plugin": "notes",
        "provider": "the plugin notes", "progress": nil,
        "options": [
            "type": "object", "required": ["table"],
            "properties": [
                "table": ["type": "string", "description": "Where to look."],
                "kind": ["enum": ["new", "old", nil]],
                "limit": ["type": ["integer", "null"], "minimum": 1, "maximum": 9],
                "where": ["type": "array", "items": ["type": "object", "properties": ["name": ["type": "string"]]]],
            ],
        ],
        "result": ["type": "array", "items": ["type": "string"]],
        "events": [["name": "notes.changed", "summary": "A note changed."]],
        "interceptors": [
            ["name": "cache.notes", "plugin": "cache", "summary": "Remembers notes.", "onFailure": "pass"]
        ],
    ]

    @Test("shows how to call the task, its options and result, and its provider")
    func page() {
        #expect(
            TaskPage(description, isBold: false).text == """
                notes.find: Finds notes.

                Call
                  trestle call notes.find table=… [kind=…] [limit=…] [where=…]

                Options
                  table   string               required; Where to look.
                  kind    new | old
                  limit   integer from 1 to 9
                  where   array of object
                    name  string

                Result
                  array of string

                Events of the plugin
                  notes.changed  A note changed.

                Interceptors, in this order
                  cache.notes  Remembers notes. (the plugin cache)

                Provider
                  the plugin notes; permission: notes.read

                """)
    }

    @Test("shows which session describes a client's task")
    func describer() {
        let text = TaskPage(
            ["name": "x", "provider": "client", "permission": "x", "describedBy": ["session": 5, "uid": 1000]],
            isBold: false
        ).text
        #expect(text.contains("Provider\n  client, the session 5 of uid 1000, which describes it\n"), "\(text)")
    }

    @Test("states which parts are not described")
    func unknown() {
        let text = TaskPage(
            ["name": "x", "options": true, "result": true, "progress": ["type": "integer"]], isBold: false
        ).text
        #expect(text.contains("Options\n  none are described: any JSON\n"))
        #expect(text.contains("Result\n  not described: any JSON\n"))
        #expect(text.contains("Progress\n  integer\n"))
    }

    @Test("is finite for a schema that refers to itself, and contains no control characters")
    func hostile() {
        let schema: JSON = [
            "properties": ["a": ["$ref": "#/$defs/tree"], "b": ["description": "\u{1B}[2J"]],
            "$defs": ["tree": ["type": "object", "properties": ["part": ["$ref": "#/$defs/tree"]]]],
        ]
        let lines = SchemaPage.lines(schema)
        #expect(lines.map(\.depth) == [0, 1, 2, 3, 0])
        #expect(lines.last?.note.contains("\u{1B}") == false)
        #expect(
            SchemaPage.words(["anyOf": [["type": "string"], ["type": "null"], ["type": "string"]]]) == "string or null")
    }

    @Test("shows types and bounds of a schema without control characters")
    func hostileWords() {
        let schemas: [JSON] = [
            ["type": "\u{1B}[2J"], ["type": "integer", "minimum": "\u{1B}[2J"],
            ["type": "number", "minimum": 1, "maximum": "\u{202E}"], ["enum": ["\u{1B}[2J"]],
        ]
        for schema in schemas {
            for whole in [schema, ["properties": ["a": schema]]] as [JSON] {
                let text = TaskPage(["name": "x", "result": whole], isBold: false).text
                #expect(text.unicodeScalars.allSatisfy { $0 != "\u{1B}" && $0 != "\u{202E}" }, "\(text)")
            }
        }
    }

    @Test("has a finite description of a schema that refers to itself")
    func endlessWords() {
        let tree: JSON = ["type": "array", "items": ["$ref": "#/$defs/t"]]
        #expect(
            SchemaPage.words(["$ref": "#/$defs/t", "$defs": ["t": tree]])
                == "array of array of array of array of …")
        let choices: JSON = ["anyOf": .array(Array(repeating: ["$ref": "#/$defs/t"], count: 1000))]
        #expect(SchemaPage.words(["$ref": "#/$defs/t", "$defs": ["t": choices]]) == "…")
    }

    @Test("limits the number of members if many alternatives refer back")
    func manyMembers() {
        let alternatives: JSON = ["anyOf": .array(Array(repeating: ["$ref": "#/$defs/t"], count: 1000))]
        let lines = SchemaPage.lines(["$ref": "#/$defs/t", "$defs": ["t": ["properties": ["a": alternatives]]]])
        #expect((10...40_000).contains(lines.count), "\(lines.count)")
        #expect(lines.last?.name == "…")
    }

    @Test("limits the text of members that all refer to one long text")
    func longTexts() {
        let words = JSON.array((0..<1000).map { .string("a value with the number \($0)") })
        var members: JSONObject = [:]
        for number in 0..<2000 { members["m\(number)"] = ["$ref": "#/$defs/t"] }
        let lines = SchemaPage.lines(["properties": .object(members), "$defs": ["t": ["enum": words]]])
        #expect(lines.last?.name == "…")
        #expect(lines.reduce(0) { $0 + $1.words.utf8.count } < 2 << 20)
        // Other members are all shown.
        var plain: JSONObject = [:]
        for number in 0..<4000 { plain["m\(number)"] = ["type": "string"] }
        #expect(SchemaPage.lines(["properties": .object(plain)]).count == 4000)
    }

    @Test("resolves references by bytes: a combining mark after a slash or a tilde is part of the key")
    func references() {
        for (key, written) in [("\u{301}a", "\u{301}a"), ("~\u{301}", "~0\u{301}"), ("a/b", "a~1b"), ("a b", "a%20b")] {
            let schema: JSON = [
                "properties": ["x": ["$ref": .string("#/$defs/\(written)")]],
                "$defs": .object([key: ["type": "integer"] as JSON]),
            ]
            #expect(SchemaPage.lines(schema).first?.words == "integer", "\(written)")
        }
    }
}

@Suite("Shell completion")
struct TaskCompletionTests {
    @Test("offers the keys of options, and the values that a schema lists")
    func candidates() {
        let schema: JSON = [
            "properties": [
                "table": ["type": "string"], "kind": ["enum": ["new", nil]], "loud": ["type": ["boolean", "null"]],
            ]
        ]
        #expect(TaskCompletion.candidates(schema) == ["table=", "kind=new", "loud=true", "loud=false"])
        #expect(TaskCompletion.candidates(true) == [])
    }

    @Test("offers only words without characters that are special in a shell")
    func words() {
        let words = ["a.b/c:d=e@f-1_G", "", "-a", "$(id)", "a b", "a\\b", "a\nb", "é", "a*", "\u{9B}", "~a", "a#"]
        #expect(CompletionWord.offered(words, isForZsh: false) == ["a.b/c:d=e@f-1_G"])
        #expect(CompletionWord.offered(words, isForZsh: true) == [#"a.b/c\:d=e@f-1_G"#])
        #expect(CompletionWord.offered([String(repeating: "a", count: 257)], isForZsh: false) == [])
    }

    @Test("takes as the task the first word after the command that is neither an option nor an option's value")
    func task() {
        let words = ["trestle", "--socket", "/s", "call", "--timeout", "5", "--raw", "Echo", "a="]
        #expect(TaskCompletion.task(in: words, before: 8) == "Echo")
        #expect(TaskCompletion.task(in: words, before: 7) == nil)
        #expect(TaskCompletion.task(in: ["trestle", "tasks"], before: 2) == nil)
        let streamed = ["trestle", "call", "--stream", "body", "files.read", ""]
        #expect(TaskCompletion.task(in: streamed, before: 5) == "files.read")
        #expect(TaskCompletion.socket(in: words) == "/s")
        #expect(TaskCompletion.socket(in: ["trestle", "call", "--socket=/t"]) == "/t")
        #expect(TaskCompletion.socket(in: ["trestle", "call", "--socket"]) == nil)
    }
}
