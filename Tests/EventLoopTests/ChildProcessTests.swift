import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(20))) @LoopActor struct ChildProcessTests {
    @Test("Every waiter gets the exit status, also after the process has ended")
    func exitStatus() async throws {
        let process = try ChildProcess.spawn(.init(file: "/bin/sh", arguments: ["-c", "exit 7"]))
        async let first = process.exitStatus()
        async let second = process.exitStatus()
        #expect(await [first, second] == [.exited(7), .exited(7)])
        #expect(await process.exitStatus() == .exited(7))
        process.kill()
    }

    @Test("A killed process is reported as such")
    func killed() async throws {
        let process = try ChildProcess.spawn(.init(file: "sleep", arguments: ["1000"]))
        process.kill(SIGKILL)
        #expect(await process.exitStatus() == .signalled(SIGKILL))
    }

    @Test("A session leader is killed with the processes that it started")
    func session() async throws {
        var options = ChildProcess.Options(
            file: "/bin/sh", arguments: ["-c", "sleep 1000 & echo started; wait"])
        options.standardOutput = .pipe
        options.isSessionLeader = true
        let process = try ChildProcess.spawn(options)
        let output = try #require(process.standardOutput)
        let recorder = Recorder()
        output.delegate = recorder
        output.startReading()
        await recorder.wait { !$0.received.isEmpty }
        process.kill(SIGKILL)
        // The pipe ends only when the last process that holds it has ended.
        await recorder.wait { $0.ends == [.hangUp] }
        output.close()
        #expect(await process.exitStatus() == .signalled(SIGKILL))
    }

    @Test("Pipes connect to the three standard streams, and the environment and directory are applied")
    func pipes() async throws {
        let directory = try TemporaryDirectory()
        var options = ChildProcess.Options(
            file: "/bin/sh", arguments: ["-c", "cat; echo $NAME $HOME; pwd; echo oops >&2"])
        options.environment = ["NAME": "value"]
        options.workingDirectory = directory.path
        options.standardInput = .pipe
        options.standardOutput = .pipe
        options.standardError = .pipe
        let process = try ChildProcess.spawn(options)
        let (output, error) = (Recorder(), Recorder())
        process.standardOutput?.delegate = output
        process.standardOutput?.startReading()
        process.standardError?.delegate = error
        process.standardError?.startReading()
        process.standardInput?.write("in\n")
        process.standardInput?.close()
        await output.wait { $0.ends == [.hangUp] }
        await error.wait { $0.ends == [.hangUp] }
        #expect(String(decoding: output.received, as: UTF8.self) == "in\nvalue\n\(directory.path)\n")
        #expect(error.received == Array("oops\n".utf8))
        #expect(await process.exitStatus().isSuccess)
        process.standardOutput?.close()
        process.standardError?.close()
    }

    @Test("Extra descriptors become 3, 4 …")
    func extraDescriptors() async throws {
        let (stream, process) = try UnixSocket.pair { first, second in
            var options = ChildProcess.Options(file: "/bin/sh", arguments: ["-c", "echo three >&3"])
            options.standardInput = .null
            options.extraDescriptors = [second.descriptor]
            return (try UnixStream(adopting: first), try ChildProcess.spawn(options))
        }
        let recorder = Recorder()
        stream.delegate = recorder
        stream.startReading()
        await recorder.wait { $0.ends == [.hangUp] }
        #expect(recorder.received == Array("three\n".utf8))
        #expect(await process.exitStatus().isSuccess)
        stream.close()
    }

    @Test("Descriptors that other code leaves open for its own children stay so")
    func othersDescriptors() async throws {
        let others = open("/dev/null", O_RDONLY)
        defer { close(others) }
        #expect(await (try ChildProcess.spawn(.init(file: "true"))).exitStatus().isSuccess)
        #expect(fcntl(others, F_GETFD) == 0)
    }

    @Test("The error for a missing program names it")
    func missing() {
        let error = #expect(throws: SystemError.self) {
            try ChildProcess.spawn(.init(file: "/no/such/program"))
        }
        #expect(error?.code == ENOENT)
        #expect(error?.description == "start /no/such/program: no such file or directory (ENOENT)")
    }

    @Test("Writing to a pipe without a reader accepts nothing and does not end this process")
    func brokenPipe() async throws {
        var options = ChildProcess.Options(file: "true")
        options.standardInput = .pipe
        let process = try ChildProcess.spawn(options)
        let input = try #require(process.standardInput)
        let recorder = Recorder()
        input.delegate = recorder
        #expect(await process.exitStatus().isSuccess)
        #expect(input.write("nobody reads this") == 0)
        await recorder.wait { $0.ends == [.hangUp] }
        input.close()
    }
}

@Suite(.timeLimit(.minutes(20))) struct BlockingWorkTests {
    @Test("Work runs off the loop and returns its result or error")
    func results() async throws {
        let onLoop = await BlockingWork.run { LoopActor.isOnLoopThread }
        #expect(!onLoop)
        await #expect(throws: SystemError(code: EIO, operation: "x")) {
            try await BlockingWork.run { () throws(SystemError) -> Int in throw SystemError(code: EIO, operation: "x") }
        }
        let sum = await withTaskGroup { group in
            for number in 0..<100 { group.addTask { await BlockingWork.run { number } } }
            return await group.reduce(0, +)
        }
        #expect(sum == 4_950)
    }

    @Test("The C form runs the work off the loop, and then its end on the loop")
    func functions() async {
        let seen = await withCheckedContinuation { continuation in
            let state = FunctionState(continuation)
            BlockingWork.run(
                { FunctionState.of($0).workedOnLoop = LoopActor.isOnLoopThread },
                done: { argument in
                    let state = FunctionState.of(argument)
                    state.continuation.resume(returning: [state.workedOnLoop, LoopActor.isOnLoopThread])
                    Unmanaged.passUnretained(state).release()
                }, Unmanaged.passRetained(state).toOpaque())
        }
        #expect(seen == [false, true])
    }
}

/// The state that the two functions share. The second runs after the first.
private final class FunctionState {
    let continuation: CheckedContinuation<[Bool], Never>
    var workedOnLoop = true

    init(_ continuation: CheckedContinuation<[Bool], Never>) {
        self.continuation = continuation
    }

    /// Returns the object of a pointer that was passed above and is never nil.
    static func of(_ argument: UnsafeMutableRawPointer?) -> FunctionState {
        Unmanaged<FunctionState>.fromOpaque(argument.unsafelyUnwrapped).takeUnretainedValue()
    }
}

@Suite struct SystemErrorTests {
    @Test("The description contains operation, subject, reason and name")
    func description() {
        #expect(
            SystemError(code: ENOENT, operation: "connect to", subject: "/x").description
                == "connect to /x: no such file or directory (ENOENT)")
        #expect(SystemError(code: EIO, operation: "read").description == "read: i/o error (EIO)")
        #expect(SystemError(code: EIO, operation: "read", advice: "do this").description == "read: do this")
    }
}
