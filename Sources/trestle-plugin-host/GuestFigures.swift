import BridgeJSON
import BridgeMessage
import EventLoop
import Synchronization

/// The figures that a plugin sets, sent to the daemon once a second where they have changed. Any thread.
final class GuestFigures: Sendable {
    private struct Figure {
        var value = 0.0
        var isNews = true
    }

    private struct State {
        /// By the rules that the daemon goes by, which would refuse later what is refused here.
        var declared = FigureDeclarations()
        /// Their values, in the same order.
        var figures: [Figure] = []
    }

    private static let interval = Duration.seconds(1)
    private let state = Mutex(State())

    /// Declares a figure; one of the same name and unit is the same figure.
    ///
    /// - Returns: its number, from 1.
    /// - Throws: ``FigureRefusal`` where it cannot be published.
    func declare(_ new: FigureDeclaration) throws(FigureRefusal) -> UInt32 {
        // The closure's own errors would be of any type.
        let outcome = state.withLock { state in
            Result { () throws(FigureRefusal) -> UInt32 in
                let number = try state.declared.declare(new)
                if number > state.figures.count { state.figures.append(Figure()) }
                return UInt32(number)
            }
        }
        return try outcome.get()
    }

    func set(_ number: UInt32, _ value: Double) { change(number) { $0 = value } }

    func add(_ number: UInt32, _ amount: Double) { change(number) { $0 += amount } }

    private func change(_ number: UInt32, _ change: (inout Double) -> Void) {
        state.withLock { state in
            guard number > 0, number <= state.figures.count else { return }
            change(&state.figures[Int(number) - 1].value)
            state.figures[Int(number) - 1].isNews = true
        }
    }

    /// Reports what is new, and the loop's lag in whole milliseconds, from now on, for as long as the process lives.
    @LoopActor
    func publish(_ report: @escaping (JSON) -> Void) {
        var timer: LoopTimer?
        var reportedLag: Int64 = 0
        timer = LoopTimer { [self] in
            var news = takeNews()?.objectValue ?? [:]
            let lag = Int64(EventLoop.lag / .milliseconds(1))
            if lag != reportedLag { news["lagMs"] = .number(JSONNumber(lag)) }
            reportedLag = lag
            if !news.isEmpty { report(.object(news)) }
            timer?.schedule(after: Self.interval)
        }
        timer?.schedule(after: Self.interval)
    }

    /// What has changed since it was taken last; nil: nothing has.
    func takeNews() -> JSON? {
        state.withLock { state in
            var news: [JSON] = []
            for (index, declared) in state.declared.all.enumerated() where state.figures[index].isNews {
                state.figures[index].isNews = false
                var figure: JSONObject = [
                    "name": .string(declared.name), "kind": .string(declared.kind.rawValue),
                    "help": .string(declared.help),
                    "value": .number(JSONNumber(state.figures[index].value) ?? JSONNumber(0)),
                ]
                figure["unit"] = declared.unit.map { .string($0) }
                news.append(.object(figure))
            }
            return news.isEmpty ? nil : ["metrics": .array(news)]
        }
    }
}
