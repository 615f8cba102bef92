// Runs the program xclip for one call. All functions here block: they run on a lane, never on the loop. They wait in
// short steps, and check after each step whether the call was cancelled or is past its time limit.
import Glibc
import TaskKit

struct Xclip {
    private let settings: Settings
    private let environment: [String]
    private let display: String
    private let deadline: ContinuousClock.Instant
    private let isCancelled: () -> Bool

    /// The longest time between two checks for cancellation.
    private static let stepMilliseconds: Int32 = 20
    /// The time limit of one query that may never be answered and can be repeated without harm: far longer than xclip
    /// takes to answer.
    private static let timeout = Duration.seconds(1)
    /// The number of attempts of an offer. xclip ends with an error if a program that reads from it ends first.
    private static let attempts = 3
    /// The number of bytes that are kept of xclip's error output.
    private static let maximumErrorBytes = 1_024

    /// - Throws: `clipboard.unavailable` if there is no display.
    init(_ settings: Settings, isCancelled: @escaping () -> Bool) throws {
        guard let display = settings.display else { throw Failure.noDisplay() }
        self.settings = settings
        self.display = display
        self.isCancelled = isCancelled
        environment = settings.environment(display: display)
        deadline = .now + settings.timeout
    }

    /// Returns the selection as UTF-8; `nil` if no program has it, or not in this form.
    ///
    /// - Throws: `clipboard.too_large` beyond the maximum, before the rest has been read.
    func text(of selection: Selection) throws -> [UInt8]? {
        try answer(selection, target: "UTF8_STRING")
    }

    /// Returns the forms in which the selection is available; `nil` if no program has it.
    func targets(of selection: Selection) throws -> [String]? {
        try answer(selection, target: "TARGETS").map { bytes in
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    /// Returns whether no program has the selection. A query that reaches an owner while it ends is never answered, so
    /// it is repeated.
    func isFree(_ selection: Selection) throws -> Bool {
        while true {
            switch try ask(selection, target: "TARGETS", until: min(deadline, .now + Self.timeout)) {
            case .nothing: return true
            case .silence: try pause()
            case .bytes, .tooMuch: return false
            }
        }
    }

    private func answer(_ selection: Selection, target: String) throws -> [UInt8]? {
        switch try ask(selection, target: target, until: deadline) {
        case .bytes(let bytes): return bytes
        case .nothing: return nil
        case .tooMuch: throw Failure.tooLarge(settings.textBytes)
        case .silence: throw Failure.noAnswer(after: settings.timeout)
        }
    }

    /// Starts a process that offers a text, and waits until it does.
    ///
    /// - Returns: that process, which runs until another program takes the selection over. That may have happened
    ///   already.
    func offer(_ text: [UInt8], as selection: Selection) throws -> Child {
        var status: Int32 = 0
        for _ in 0..<Self.attempts {
            let child = try begin(text, as: selection)
            do {
                repeat {
                    if try isOffered(text, as: selection) { return child }
                    try pause()
                } while child.status == nil
            } catch {
                child.kill()
                child.wait()
                throw error
            }
            status = child.status ?? 0
            // The process had the selection, and another program has taken it over.
            if status == 0 { return child }
        }
        throw Failure.refused(display: display, "its tool ended with \(status)")
    }

    private func begin(_ text: [UInt8], as selection: Selection) throws -> Child {
        let input = try Descriptor.pair()
        // `-quiet` keeps xclip in the foreground. In the background it would outlive the daemon, and so would readers
        // of its output.
        let arguments = ["-quiet", "-in", "-selection", selection.rawValue, "-target", "UTF8_STRING"]
        let child = try Child(settings.tool, arguments, environment: environment, input: input.theirs.number)
        do {
            try feed(text, to: input, child)
        } catch {
            child.kill()
            child.wait()
            throw error
        }
        return child
    }

    /// Returns whether the selection contains a text now. Until then the selection may contain any text, and its owner
    /// may be slow.
    private func isOffered(_ text: [UInt8], as selection: Selection) throws -> Bool {
        let end = min(deadline, .now + Self.timeout)
        guard case .bytes(text) = try ask(selection, target: "UTF8_STRING", until: end) else { return false }
        return true
    }

    private func feed(_ text: [UInt8], to input: consuming Descriptor.Pair, _ child: Child) throws {
        var sent = 0
        while sent < text.count {
            let count = text[sent...].withUnsafeBytes { bytes in
                send(input.ours.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                try pause([input.ours.number], POLLOUT)
                // The other end of the socket is open in this process, too, and so never hangs up.
                if child.status != nil { return }
            } else if errno != EINTR {
                return
            }
        }
    }

    /// The outcome of a query to a selection's owner.
    private enum Answer {
        case bytes([UInt8])
        /// No program has the selection, or not in this form.
        case nothing
        /// More bytes than the maximum.
        case tooMuch
        /// No answer within the time limit.
        case silence
    }

    private func ask(_ selection: Selection, target: String, until end: ContinuousClock.Instant) throws -> Answer {
        let output = try Descriptor.pair()
        let errors = try Descriptor.pair()
        let child = try Child(
            settings.tool, ["-out", "-selection", selection.rawValue, "-target", target], environment: environment,
            output: output.theirs.number, errors: errors.theirs.number)
        defer {
            child.kill()
            child.wait()
        }
        var found: [UInt8] = []
        var errorText: [UInt8] = []
        var status: Int32?
        // This waits for the end of the process and not for that of its output: a child of it may hold the output open.
        repeat {
            status = child.status
            if status == nil {
                guard ContinuousClock.now < end else { return .silence }
                try pause([output.ours.number, errors.ours.number], POLLIN)
            }
            read(output.ours.number) { found += $0 }
            read(errors.ours.number) { errorText += $0.prefix(Self.maximumErrorBytes - errorText.count) }
            if found.count > settings.textBytes { return .tooMuch }
        } while status == nil
        if status == 0 { return .bytes(found) }
        let sentence = String(decoding: errorText, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
        // xclip's message if no program has the selection, or not in this form.
        if sentence.hasPrefix("Error: target ") { return .nothing }
        throw Failure.refused(display: display, sentence)
    }

    /// Passes on the bytes that can be read now; at most 16 pieces, in case the program writes without end.
    private func read(_ descriptor: Int32, _ take: (ArraySlice<UInt8>) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<16 {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                take(buffer[..<count])
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }

    /// Waits for a short time, or until one of the descriptors is ready.
    ///
    /// - Throws: if the call was cancelled, or its time limit has passed.
    private func pause(_ descriptors: [Int32] = [], _ events: Int32 = 0) throws {
        if isCancelled() { throw CancellationError() }
        guard ContinuousClock.now < deadline else { throw Failure.noAnswer(after: settings.timeout) }
        var waiting = descriptors.map { pollfd(fd: $0, events: Int16(events), revents: 0) }
        _ = poll(&waiting, nfds_t(waiting.count), waiting.isEmpty ? 2 : Self.stepMilliseconds)
    }
}
