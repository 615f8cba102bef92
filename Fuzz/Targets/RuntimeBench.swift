import BridgeJSON
@testable import BridgeMessage
import Logging
@testable import TaskRuntime

/// A plugin's host whose answers are in the input.
final class FuzzHost: TaskHost {
    let isolation = "none"
    /// The calls that were begun, ended or not.
    private(set) var started: [CallHandle] = []

    func perform(_ work: PluginWork, for call: Call, options: UnsafeRawBufferPointer) { started.append(call.handle) }

    func cancel(_ call: CallHandle, reason: CancelReason) {}

    func notify(_ change: SessionChange, _ session: Session) {}
}

/// A client: a connection without a socket, with an account of its callbacks.
final class FuzzClient: SessionTransport {
    private(set) var session: Session! = nil  // set before init returns
    private let runtime: TaskRuntime
    private var splitter: MessageSplitter
    private var account = CallbackAccount()
    /// Whether it reads the daemon's output.
    private var isReading = true
    private(set) var isToBeClosed = false
    private var partOfLine: [UInt8] = []
    private(set) var violation: Violation?
    private let names: FuzzNames

    init(_ runtime: TaskRuntime, uid: UInt32, _ names: FuzzNames = FuzzNames()) {
        self.runtime = runtime
        self.names = names
        splitter = MessageSplitter(maximumLineBytes: runtime.limits.messageBytes)
        session = runtime.open(PeerIdentity(uid: uid, gid: uid, pid: 1), transport: self)
    }

    // MARK: Input

    /// Sends a piece of input, as a connection handles it.
    func send(_ piece: [UInt8], _ decoder: MessageDecoder) {
        let piece = piece.split(separator: FuzzInput.idPlace, omittingEmptySubsequences: false)
            .joined(separator: account.lastForwardedID)
        runtime.beginInput()
        withPadding(names.filled(Array(piece))) { bytes in
            var taken = 0
            while !isToBeClosed, let line = splitter.nextLine(of: bytes, from: &taken) { take(line, decoder) }
        }
        runtime.endInput()
    }

    func endInput(_ decoder: MessageDecoder) {
        if let line = splitter.lastLine(), !isToBeClosed { take(line, decoder) }
        runtime.endInput(of: session)
    }

    private func take(_ line: SplitLine, _ decoder: MessageDecoder) {
        if let item = decoder.item(of: line) { return receive(item, around: session.onlyDialect) }
        let answers = runtime.openBatch(isRPC: decoder.isRPCBatch, of: session)
        _ = decoder.decodeBatch {
            receive($0, around: answers == nil ? session.onlyDialect : .jsonRPC)
            return !isToBeClosed
        }
        if let answers { runtime.close(answers, of: session) }
    }

    private func receive(_ item: DecodedItem, around: DialectID) {
        note(item, around: around)
        runtime.receive(item, from: session)
    }

    private func note(_ item: DecodedItem, around: DialectID) {
        switch item {
        case .call(let call):
            if let id = call.pointee.callbackID { account.owe(id, call.pointee.dialect) }
        case .problem(let problem) where !session.hasRefused(problem.pointee):
            let id = problem.pointee.callbackID
            let unknown: DialectID = problem.pointee.mayBeRPC && session.mayMeanRPC ? .jsonRPC : around
            account.owe(id, problem.pointee.dialect ?? id?.dialect ?? unknown)
        case .problem: break
        case .message(let message):
            switch message.pointee {
            case .event: account.owe(nil, around)
            case .listening(.add(let id, _)): account.oweRefusal(id)
            case .listening(.removeAll(_, let id)): if let id { account.owe(id, id.dialect) }
            case .callback(let callback)
            where !callback.isValid && runtime.router.forwardedCall(callback.callbackID, session) == nil:
                account.owe(callback.callbackID, callback.callbackID.dialect)
            default: break
            }
        }
    }

    // MARK: Output

    func setReading(_ isReading: Bool) {
        self.isReading = isReading
        writeOutput()
    }

    func writeOutput() {
        while isReading, !session.output.isEmpty {
            partOfLine += session.output.bytes
            session.output.removeFirst(session.output.bytes.count)
            runtime.refill(session)
        }
        while violation == nil, let end = partOfLine.firstIndex(of: 0x0A) {
            let line = Array(partOfLine[..<end])
            partOfLine.removeFirst(end + 1)
            do throws(Violation) { try account.take(line) } catch { violation = error }
            if !account.lastStream.isEmpty { names.stream = account.takeLastStream() }
        }
    }

    func closeWhenWritten() { isToBeClosed = true }

    func unreadDescriptors() -> Int? { 0 }

    // MARK: The end

    /// Checks that every call has ended, and every line was complete.
    func checkSettled() throws(Violation) {
        setReading(true)
        if let violation { throw violation }
        try require(partOfLine.isEmpty, "half a line: \(partOfLine.shown)")
        try require(session.callsInFlight == 0, "\(session.callsInFlight) calls are in flight of a session")
        try account.checkSettled()
    }
}
