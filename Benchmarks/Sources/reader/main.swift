// Reads a stream with BridgeClient: reader SOCKET STREAM. The exit status is 1 if the stream is not complete.
import BridgeClient
import Glibc

guard CommandLine.arguments.count == 3 else {
    print("usage: reader SOCKET STREAM")
    exit(64)
}
let bridge = try await Bridge.connect(socket: CommandLine.arguments[1])
var count = 0
for try await chunk in await bridge.readStream(CommandLine.arguments[2]) { count += chunk.count }
await bridge.close()
