import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Whether a program is in a folder of PATH.
private func canRun(_ program: String) -> Bool {
    (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":").contains { exists("\($0)/\(program)") }
}

@Suite("trestle generate", .timeLimit(.minutes(20)), .blocking)
struct GenerateTests {
    private let clients = Paths.package + "/Clients"

    /// Runs a program that is found through PATH.
    private func run(named program: String, _ arguments: [String], environment: [String] = []) throws -> ProgramRun {
        // Programs that are installed for one user search for themselves in the home of the user.
        let home = getenv("HOME").map { ["HOME=" + String(cString: $0)] } ?? []
        return try run(
            "/usr/bin/env", [program] + arguments,
            environment: home + ["PYTHONPATH=\(clients)/Python", "PYTHONDONTWRITEBYTECODE=1"] + environment)
    }

    private func run(_ file: String, _ arguments: [String], environment: [String]) throws -> ProgramRun {
        try TestSupport.run(file, arguments, environment: environment)
    }

    /// Returns a client that provides tasks with unusual names and schemas, and with texts that would end comments.
    private func provideStrangeTasks(_ daemon: DaemonProcess) throws -> Wire {
        let note: JSON = "*/ \"\"\" ' \\ \n # \u{2028} /* \\"
        let strange: JSON = [
            "type": "object", "description": note, "required": ["class"],
            "properties": [
                "class": ["type": "string", "description": note],
                "a-b": ["enum": ["*/", "\"\"\"", "\u{2028}", nil, 1]],
                "__x": true, "list": ["type": "array", "items": ["$ref": "#"]], "": ["type": "integer"],
            ],
        ]
        let node: JSON = [
            "$ref": "#/$defs/node",
            "$defs": [
                "node": [
                    "type": "object",
                    "properties": ["next": ["anyOf": [["$ref": "#/$defs/node"], ["type": "null"]]], "str": true],
                ]
            ],
        ]
        let descriptions: JSONObject = [
            "a.b": ["summary": "Ends */ and \"\"\" and \\", "options": strange, "result": strange],
            "a-b": ["options": node, "result": node, "progress": node],
            "delete": ["options": ["type": "string"]], "async": [:], "list": [:], "9lives": [:], "n:s/x": [:],
        ]
        let provider = try daemon.connect()
        _ = try provider.result(
            "bridge.register",
            ["tasks": .array(descriptions.keys.map(JSON.string)), "descriptions": .object(descriptions)])
        return provider
    }

    @Test("The TypeScript of all tasks, with unusual names too, compiles", .enabled(if: canRun("tsc"), "needs tsc"))
    func typescript() throws {
        try withDaemon { daemon in
            let provider = try provideStrangeTasks(daemon)
            let folder = try TemporaryFolder()
            mkdir(folder.file("node_modules"), 0o755)
            symlink(clients + "/JavaScript", folder.file("node_modules/trestle-bridge"))
            let file = folder.file("tasks.ts")
            let made = try daemon.home.trestle("generate", "--language", "typescript", "--output", file)
            #expect(made.end == .exited(0), "\(made.errors)")
            try folder.write(
                """
                import { Bridge } from "trestle-bridge";
                import { echo, persistenceCreate, persistenceRead } from "./tasks";
                interface Note { text: string }
                export async function use(bridge: Bridge, note: Note): Promise<number> {
                    const { key } = await persistenceCreate(bridge, { table: "notes", record: note }, { timeout: 5 });
                    // @ts-expect-error a table has to be named
                    await persistenceCreate(bridge, { record: note });
                    // @ts-expect-error there is no such member
                    (await persistenceRead(bridge, { table: "notes", key })).no;
                    await echo(bridge);
                    return (await persistenceRead(bridge, { table: "notes", key })).version;
                }
                """, to: "use.ts")
            let compiled = try run(
                named: "tsc",
                [
                    "--noEmit", "--strict", "--noUnusedLocals", "--target", "es2020", "--moduleResolution", "node",
                    file, folder.file("use.ts"),
                ])
            #expect(compiled.end == .exited(0), "\(compiled.output)")
            withExtendedLifetime(provider) {}
        }
    }

    @Test(
        "The Python of all tasks, with odd names too, calls a daemon", .enabled(if: canRun("python3"), "needs python3"))
    func python() throws {
        try withDaemon { daemon in
            let provider = try provideStrangeTasks(daemon)
            let folder = try TemporaryFolder()
            let made = try daemon.home.trestle(
                "generate", "--language", "python", "--output", folder.file("tasks.py"))
            #expect(made.end == .exited(0), "\(made.errors)")
            try folder.write(
                """
                import asyncio, sys
                sys.path.insert(0, sys.argv[1])
                import tasks
                import trestle_bridge
                from trestle_bridge import aio

                with trestle_bridge.connect(sys.argv[2]) as bridge:
                    made = tasks.persistence_create(bridge, {"table": "notes", "record": {"text": "milk"}})
                    found = tasks.persistence_read(bridge, {"table": "notes", "key": made["key"]}, timeout=5.0)
                    print(found["record"]["text"], tasks.echo(bridge))

                async def main():
                    async with aio.connect(sys.argv[2]) as bridge:
                        found = await tasks.persistence_read_async(bridge, {"table": "notes", "key": made["key"]})
                        print(found["version"])

                asyncio.run(main())
                """, to: "use.py")
            let used = try run(
                named: "python3", [folder.file("use.py"), folder.path, daemon.home.socketPath])
            #expect(used.end == .exited(0), "\(used.errors)")
            #expect(used.output == "milk {}\n1\n")
            withExtendedLifetime(provider) {}
        }
    }

    @Test("The same tasks generate the same file; --check reports an outdated file")
    func check() throws {
        try withDaemon { daemon in
            let folder = try TemporaryFolder()
            let file = folder.file("tasks.ts")
            func generate(_ arguments: String...) throws -> ProgramRun {
                try run(
                    Paths.program("trestle"),
                    ["--socket", daemon.home.socketPath, "generate", "--language", "typescript"] + arguments,
                    environment: [])
            }
            #expect(try generate("--output", file).end == .exited(0))
            #expect(try generate().output == contents(of: file))
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_mode & 0o400 != 0)
            #expect(try generate("--check", file).end == .exited(0))
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["a.new.one"]])
            let outOfDate = try generate("--check", file)
            #expect(outOfDate.end == .exited(1))
            #expect(outOfDate.errors.contains("\(file) is out of date from line "), "\(outOfDate.errors)")
            #expect(outOfDate.errors.split(separator: "\n").count == 1)
            let some = try generate("--task", "persistence.*", "Echo").output
            #expect(some.contains("function echo(") && some.contains("function persistenceQuery("))
            #expect(!some.contains("function login("))
            for (arguments, reason) in [
                (["--task", "nobody"], "nobody"), (["--output", file, "--check", file], "--check"),
                (["--language", "cobol"], "cobol"),
            ] {
                let refused = try run(
                    Paths.program("trestle"),
                    ["--socket", daemon.home.socketPath, "generate", "--language", "typescript"] + arguments,
                    environment: [])
                #expect(refused.end == .exited(64))
                #expect(refused.errors.contains(reason), "\(refused.errors)")
            }
            #expect(try generate("--check", folder.file("nothing")).end == .exited(1))
        }
    }
}
