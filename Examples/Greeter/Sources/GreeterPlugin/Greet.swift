import TaskKit

struct Greet: BridgeTask {
    static let name = "greet"
    static let summary = "Greets somebody by name."
    struct Options: Codable, Sendable { var who: String; var loud: Bool? }
    struct Result: Codable, Sendable { var greeting: String }

    func run(_ options: Options, _ call: Call) async throws -> Result {
        Result(greeting: options.loud == true ? "HELLO, \(options.who.uppercased())" : "Hello, \(options.who)")
    }
}
