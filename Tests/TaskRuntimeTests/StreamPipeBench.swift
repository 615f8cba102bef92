import BridgeJSON

@testable import TaskRuntime

/// Two clients at the ends of streams, and the pipes that are made for them. The suites about pipes inherit it.
class StreamPipeBench {
    let bench = Bench()
    let pipes: FakePipes
    let writer: StreamClient
    let reader: StreamClient
    /// "hello", in base 64, and its bytes.
    let hello: JSON = "aGVsbG8="
    let helloBytes = Array("hello".utf8)

    init() {
        pipes = FakePipes(bench)
        (writer, reader) = (StreamClient(bench), StreamClient(bench))
    }

    func make(_ options: JSON = [:]) -> JSON { .string(writer.make(options)) }

    func attach(_ client: StreamClient, _ stream: JSON, _ side: JSON) -> JSON { client.attach(stream, side) }
}
