import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Completion in real shells, with a daemon that lists names that clients may have registered with an older version.
@Suite("Completion with names that contain commands", .blocking)
struct CompletionTests {
    @Test(
        "bash offers only the harmless names and runs no command", .enabled(if: exists("/usr/bin/bash"), "needs bash"))
    func bash() throws {
        let sandbox = try CompletionSandbox("bash")
        let script = try sandbox.folder.write(Self.bashScript, to: "try")
        func words(_ task: String...) throws -> [String] {
            let run = try run(
                "/usr/bin/bash",
                ["--noprofile", "--norc", script, "trestle", "--socket", sandbox.socket, "call"] + task,
                environment: sandbox.environment)
            return run.output.split(separator: "\n").map(String.init)
        }
        #expect(try words("") == HostileNames.harmless)
        #expect(try words("Echo", "") == HostileNames.pairs)
        #expect(try sandbox.made() == [])
    }

    /// Does what bash does when TAB is pressed after these words.
    private static let bashScript = """
        PATH=$programs:$PATH
        cd "$work"
        source "$completions"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMPREPLY=()
        COMP_POINT=${#COMP_LINE}
        _trestle trestle "${!#}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
        """

    @Test("zsh inserts only the harmless names and runs no command", .enabled(if: exists("/usr/bin/zsh"), "needs zsh"))
    func zsh() throws {
        let sandbox = try CompletionSandbox("zsh")
        let shell = try sandbox.shell("/usr/bin/zsh", ["-f", "-i"], setup: Self.zshSetup)
        func words(_ start: String) throws -> [String] {
            // TAB inserts all candidates, each as if it were the only one; ^G writes the line to a file.
            shell.type("\(start)\t\u{7}")
            _ = try shell.read(until: "READY")
            let line = contents(of: sandbox.folder.file("line")).dropFirst(start.count)
            return line.split(whereSeparator: \.isWhitespace).map { String($0).replacing("\\", with: "") }
        }
        #expect(try words("trestle --socket \(sandbox.socket) call ").sorted() == HostileNames.harmless.sorted())
        #expect(try words("trestle --socket \(sandbox.socket) call Echo ").sorted() == HostileNames.pairs.sorted())
        #expect(try sandbox.made() == [])
    }

    private static let zshSetup = """
        unsetopt promptsp
        PATH=$programs:$PATH
        cd "$work"
        autoload -Uz compinit; compinit -u -D
        source "$completions"; compdef _trestle trestle
        zstyle ':completion:*' completer _all_matches _complete
        zstyle ':completion:*' insert true
        show() { print -r -- "$BUFFER" > "$HOME/line"; BUFFER=; print RE""ADY }
        zle -N show; bindkey '^G' show; bindkey '^I' complete-word
        """

    @Test(
        "fish offers only the harmless names and runs no command", .enabled(if: exists("/usr/bin/fish"), "needs fish"))
    func fish() throws {
        let sandbox = try CompletionSandbox("fish")
        let shell = try sandbox.shell(
            "/usr/bin/fish", ["--no-config", "-i"], setup: "set -x PATH $programs $PATH; cd $work; source $completions")
        func words(_ task: String) throws -> [String] {
            shell.type(
                "complete -C \"trestle --socket \(sandbox.socket) call \(task)\" > $HOME/line; echo RE''ADY\r")
            _ = try shell.read(until: "READY")
            return contents(of: sandbox.folder.file("line")).split(separator: "\n").map(String.init)
        }
        #expect(try words("").sorted() == HostileNames.harmless.sorted())
        #expect(try words("Echo ").sorted() == HostileNames.pairs.sorted())
        #expect(try sandbox.made() == [])
    }
}

/// Names that older daemons accepted, and the ones among them that completion may offer.
enum HostileNames {
    static let harmless = ["notes.add", "ns:add", "=equals", "job/1@home"]
    static let all =
        harmless + [
            "$(touch a)", "`touch b`", "c;touch c", "d|touch d", "<(touch e)", "f\ntouch f", "=(touch g)",
            "'$(touch h)'", "\"$(touch i)\"", "${x:=$(touch j)}", "(touch k)", "*", "~root", "{a,b}",
            "--socket=/tmp/other", "-x", "a b", "é", "\u{1B}]0;x\u{7}", "x\\$(touch l)", "!touch", "$((1$(touch m)))",
            "[$(touch n)]", String(repeating: "a", count: 300),
        ]
    /// Keys of options with their values. After a key, a value that looks like an option is harmless.
    static let pairs = harmless.flatMap { key in
        (harmless + ["--socket=/tmp/other", "-x"]).map { "\(key)=\($0)" }
    }
}

/// A sandbox for completion: the scripts, a daemon in Python that lists hostile names, and an empty folder in which a
/// command that runs would leave a file.
final class CompletionSandbox {
    let folder: TemporaryFolder
    let environment: [String]
    var socket: String { folder.file("s") }
    private let daemon: SpawnedProcess
    private var running: SpawnedProcess?

    init(_ shell: String) throws {
        folder = try TemporaryFolder()
        let script = try run(Paths.program("trestle"), ["--generate-completion-script", shell])
        let completions = try folder.write(script.output, to: "completions")
        let work = folder.file("work")
        mkdir(work, 0o700)
        environment = [
            "programs=\(Paths.build)", "HOME=\(folder.path)", "TERM=dumb", "work=\(work)",
            "completions=\(completions)",
        ]
        let names = JSON.array(HostileNames.all.map { .string($0) })
        daemon = try SpawnedProcess(
            "/usr/bin/python3", [try folder.write(Self.daemonScript, to: "old.py"), folder.file("s"), names.text])
        let deadline = Deadline()
        while (try? Wire(path: folder.file("s"))) == nil {
            guard !deadline.isOver, !daemon.hasEnded(within: 5) else {
                throw TestFailure("the daemon does not get ready")
            }
        }
    }

    deinit {
        for process in [running, daemon].compactMap({ $0 }) {
            process.signal(SIGKILL)
            _ = try? process.wait()
        }
    }

    /// Starts an interactive shell that has loaded the completions.
    func shell(_ program: String, _ arguments: [String], setup: String) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(rows: 50, columns: 200)
        running = try terminal.run(program, arguments, environment: environment)
        for line in setup.split(separator: "\n") { terminal.type("\(line)\r") }
        terminal.type("echo RE''ADY\r")
        _ = try terminal.read(until: "READY")
        return terminal
    }

    /// Returns the names of the files that commands have created.
    func made() throws -> [String] {
        try run("/usr/bin/ls", ["-A", folder.file("work")]).output.split(separator: "\n").map(String.init)
    }

    private static let daemonScript = """
        import json, socket, sys, threading
        names = json.loads(sys.argv[2])
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        listener.listen()
        def serve(connection):
            lines = connection.makefile("rw")
            for line in lines:
                message = json.loads(line)
                result = {
                    "bridge.hello": {"protocol": 1, "session": 1, "daemon": {"name": "trestled", "version": "0.1.0"},
                                     "features": [], "limits": {}},
                    "bridge.tasks": {"tasks": [{"name": name, "summary": name, "public": False} for name in names]},
                    "bridge.describe": {"options": {"properties": {name: {"enum": names} for name in names}}},
                }.get(message["task"], {})
                lines.write(json.dumps({"callbackId": message["callbackId"], "result": result}) + "\\n")
                lines.flush()
        while True:
            threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()
        """
}
