import EventLoop

/// A listener that keeps the connections that it accepts.
@LoopActor
final class KeepingServer {
    let listener: UnixListener
    private(set) var streams: [UnixStream] = []
    private(set) var peers: [PeerCredentials] = []
    private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    init(_ path: String) throws {
        listener = try UnixListener.bind(path: path)
        listener.onAccept = { [weak self] socket, peer in
            guard let self, let stream = try? UnixStream(adopting: socket) else { return }
            streams.append(stream)
            peers.append(peer)
            if let waiting, peers.count >= waiting.count {
                self.waiting = nil
                waiting.continuation.resume()
            }
        }
        listener.startAccepting()
    }

    func wait(for count: Int) async {
        if peers.count >= count { return }
        await withCheckedContinuation { waiting = (count, $0) }
    }

    func close() {
        listener.close()
        for stream in streams { stream.close() }
    }
}
