import BridgeJSON
import EventLoop
import Synchronization

/// The figures that a plugin sets, told to the daemon once a second where they have changed. Any thread.
final class GuestFigures: Sendable {
    private struct Figure {
        var name: String
        var kind: String
        var unit: String?
        var help: String
        var value = 0.0
        var isNews = true
    }

    private static let most = 64
    private static let interval = Duration.seconds(1)
    private let figures = Mutex<[Figure]>([])

    /// Declares a figure; one of the same name is the same figure.
    ///
    /// - Returns: its number, from 1; 0: there are too many.
    func declare(_ name: String, kind: String, unit: String?, help: String) -> UInt32 {
        figures.withLock { figures in
            if let index = figures.firstIndex(where: { $0.name == name }) { return UInt32(index + 1) }
            guard figures.count < Self.most else { return 0 }
            figures.append(Figure(name: name, kind: kind, unit: unit, help: help))
            return UInt32(figures.count)
        }
    }

    func set(_ number: UInt32, _ value: Double) { change(number) { $0 = value } }

    func add(_ number: UInt32, _ amount: Double) { change(number) { $0 += amount } }

    private func change(_ number: UInt32, _ change: (inout Double) -> Void) {
        figures.withLock { figures in
            guard number > 0, number <= figures.count else { return }
            change(&figures[Int(number) - 1].value)
            figures[Int(number) - 1].isNews = true
        }
    }

    /// Tells of what is new, from now on, for as long as the process lives.
    @LoopActor
    func publish(_ tell: @escaping (JSON) -> Void) {
        var timer: LoopTimer?
        timer = LoopTimer { [self] in
            if let news = takeNews() { tell(news) }
            timer?.schedule(after: Self.interval)
        }
        timer?.schedule(after: Self.interval)
    }

    private func takeNews() -> JSON? {
        figures.withLock { figures in
            var news: [JSON] = []
            for index in figures.indices where figures[index].isNews {
                figures[index].isNews = false
                let figure = figures[index]
                var told: JSONObject = [
                    "name": .string(figure.name), "kind": .string(figure.kind), "help": .string(figure.help),
                    "value": .number(JSONNumber(figure.value) ?? JSONNumber(0)),
                ]
                told["unit"] = figure.unit.map { .string($0) }
                news.append(.object(told))
            }
            return news.isEmpty ? nil : ["metrics": .array(news)]
        }
    }
}
