import TaskKit

struct List: BridgeTask {
    static let name = "files.list"
    static let summary = "Answers the files of the folder, by name."
    struct Result: Codable, Sendable { var files: [File] }

    let folder: Folder

    func run(_ options: Empty, _ call: Call) async throws -> Result {
        Result(files: try await folder.files())
    }
}

struct Read: BridgeTask {
    static let name = "files.read"
    static let summary = "Answers a file, as a stream."
    struct Options: Codable, Sendable { var name: String }
    struct Result: Codable, Sendable { var file: ByteStream }

    let folder: Folder

    func run(_ options: Options, _ call: Call) async throws -> Result {
        let file = try await folder.open(FileName(options.name))
        return Result(file: try await call.makeStream(descriptor: file))
    }
}

struct Write: BridgeTask {
    static let name = "files.write"
    static let summary = "Writes a file from a stream; nobody sees it before it is complete."
    static let settings = TaskSettings(timeout: .unlimited)
    struct Options: Codable, Sendable {
        var name: String
        var file: ByteReader
    }
    struct Result: Codable, Sendable { var bytes: Int }
    struct Progress: Codable, Sendable { var bytes: Int }

    let folder: Folder

    func run(_ options: Options, _ call: Call) async throws -> Result {
        let new = try await folder.create(FileName(options.name))
        do {
            let count = try await copy(options.file, to: new, call)
            try await folder.finish(new)
            return Result(bytes: count)
        } catch {
            await folder.abandon(new)
            throw error
        }
    }

    private func copy(_ bytes: ByteReader, to new: NewFile, _ call: Call) async throws -> Int {
        var count = 0
        for try await chunk in bytes {
            count += chunk.count
            guard count <= new.maximumBytes else { throw Failure.tooLarge(new.file.name.text, new.maximumBytes) }
            try await folder.write(chunk, to: new)
            call.reportProgress(Progress(bytes: count))
        }
        return count
    }
}

struct Remove: BridgeTask {
    static let name = "files.remove"
    static let summary = "Removes a file."
    struct Options: Codable, Sendable { var name: String }

    let folder: Folder

    func run(_ options: Options, _ call: Call) async throws -> Empty {
        try await folder.remove(FileName(options.name))
        return Empty()
    }
}
