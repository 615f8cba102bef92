/// The output of a program and its end.
public struct ProgramRun {
    /// How the program ended.
    public var end: ProcessEnd
    /// The standard output.
    public var output: String
    /// The standard error.
    public var errors: String
}

/// Runs a program to its end.
///
/// - Parameters:
///   - environment: Variables in addition to PATH, as NAME=VALUE.
///   - folder: The working directory; `nil` for the one of this process.
///   - timeout: The maximum duration.
public func run(
    _ file: String, _ arguments: [String] = [], environment: [String] = [], folder: String? = nil, input: String = "",
    timeout: Duration = .seconds(300)
) throws -> ProgramRun {
    let files = try TemporaryFolder()
    let process = try SpawnedProcess(
        file, arguments, environment: environment, folder: folder, input: .file(files.write(input, to: "input")),
        output: .file(files.file("output")), errors: .file(files.file("errors")))
    let end = try process.wait(Deadline(timeout))
    return ProgramRun(end: end, output: contents(of: files.file("output")), errors: contents(of: files.file("errors")))
}
