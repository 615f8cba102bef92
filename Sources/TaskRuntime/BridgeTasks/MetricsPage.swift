import BridgeJSON
import BridgeMessage

/// The position at which a page of `bridge.metrics` ended.
enum MetricsPosition {
    /// Among the samples of a task family: after those of the task with this name.
    case tasks(TaskFamily, after: String)
    /// Before the samples of the plugin with this index.
    case plugin(Int)

    init?(_ cursor: String) {
        let parts = cursor.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let number = Int(parts[0]) else { return nil }
        if let family = TaskFamily(rawValue: number) {
            self = .tasks(family, after: parts[1])
        } else if number == TaskFamily.allCases.count, let index = Int(parts[1]), index >= 0 {
            self = .plugin(index)
        } else {
            return nil
        }
    }

    var cursor: String {
        switch self {
        case .tasks(let family, let name): "\(family.rawValue):\(name)"
        case .plugin(let index): "\(TaskFamily.allCases.count):\(index)"
        }
    }
}

// bridge.metrics: the samples in pages. The concatenated texts of the pages are one document.
extension TaskRuntime {
    /// The maximum number of tasks whose samples are collected for one page. Most tasks have few samples.
    private static var maximumSampledTasks: Int { 1_024 }

    /// Returns the page after a cursor; the first page if the cursor is `nil`.
    ///
    /// - Throws: `options.invalid` if the cursor is invalid.
    func metricsPage(_ cursor: String?) throws(BridgeError) -> JSON {
        let start = cursor.map { MetricsPosition($0) } ?? .tasks(.calls, after: "")
        guard let start else { throw PageRequest.badCursor(cursor ?? "") }
        var text = OpenMetricsText()
        if cursor == nil {
            writeDaemon(&text)
            writeTraffic(&text)
        }
        if let position = writeRest(from: start, isFirstPage: cursor == nil, &text) {
            return ["text": .string(text.unfinished()), "cursor": .string(position.cursor)]
        }
        return ["text": .string(text.finished())]
    }

    /// Writes the remaining samples, as far as they fit in the page.
    ///
    /// - Returns: The end of the page; `nil` if everything has been written.
    private func writeRest(
        from start: MetricsPosition, isFirstPage: Bool, _ text: inout OpenMetricsText
    ) -> MetricsPosition? {
        var nextPlugin = 0
        switch start {
        case .tasks(let family, let name):
            if let position = writeTasks(from: family, after: name, isFirstPage: isFirstPage, &text) {
                return position
            }
            writePlugins(&text)
        case .plugin(let index):
            nextPlugin = min(index, plugins.count)
            // Their metrics were written before, so their family names are in use.
            for plugin in plugins[..<nextPlugin] {
                for metric in plugin.metrics.all { text.resume(Self.family(of: metric.declaration, plugin)) }
            }
        }
        for (index, plugin) in plugins.enumerated().dropFirst(nextPlugin) {
            if isFull(text) { return .plugin(index) }
            for metric in plugin.metrics.all { write(metric, of: plugin, &text) }
        }
        writeInterceptors(&text)
        writeProcess(&text)
        return nil
    }

    private func writeTasks(
        from first: TaskFamily, after name: String, isFirstPage: Bool, _ text: inout OpenMetricsText
    ) -> MetricsPosition? {
        var lookedAt = 0
        for family in TaskFamily.allCases.dropFirst(first.rawValue) {
            let isResumed = family == first && !isFirstPage
            if isResumed { text.resume(family.family) } else { text.begin(family.family) }
            var last = isResumed ? name : ""
            for task in tasks.after(last) {
                if lookedAt == Self.maximumSampledTasks || isFull(text) { return .tasks(family, after: last) }
                lookedAt += 1
                if task.statistics.calls > 0 { write(family, of: task, &text) }
                last = task.name
            }
        }
        return nil
    }

    private func isFull(_ text: OpenMetricsText) -> Bool {
        text.byteCount >= min(TablePage.maximumBytes, quotas.limits.messageBytes / 2)
    }
}
