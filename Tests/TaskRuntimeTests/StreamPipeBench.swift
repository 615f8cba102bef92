import BridgeJSON

@testable import TaskRuntime

/// Two clients at the ends of streams, and the pipes that are created for them. The base class of suites about pipes.
class StreamPipeBench {
    let bench = Bench()
    let pipes: FakePipes
    let writer: StreamClient
    let reader: StreamClient
    /// The text "hello", in Base64 and as bytes.
    let hello: JSON = "aGVsbG8="
    let helloBytes = Array("hello".utf8)

    init() {
        pipes = FakePipes(bench)
        (writer, reader) = (StreamClient(bench), StreamClient(bench))
    }

    func make(_ options: JSON = [:]) -> JSON { .string(writer.make(options)) }

    func attach(_ client: StreamClient, _ stream: JSON, _ side: JSON) -> JSON { client.attach(stream, side) }
}
