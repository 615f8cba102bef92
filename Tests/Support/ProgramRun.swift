/// What a program said and how it ended.
public struct ProgramRun {
    /// How it ended.
    public var end: ProcessEnd
    /// What it wrote to its standard output.
    public var output: String
    /// What it wrote to its standard error.
    public var errors: String
}

/// Runs a program to its end.
///
/// - Parameters:
///   - environment: variables, NAME=VALUE, beside PATH.
///   - folder: where it runs; nil: where this process does.
///   - timeout: how long that may take.
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
