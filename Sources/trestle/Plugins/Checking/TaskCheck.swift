import BridgeClient
import BridgeJSON
import EventLoop

/// Checks one task of a plugin against its description and the rules of the bridge.
@LoopActor
struct TaskCheck {
    let daemon: CheckedDaemon
    /// The description by `bridge.describe`.
    let description: JSON
    let options: CheckChoice.Options
    let timeout: Duration
    let report: (_ task: String, _ check: String, CheckFinding.Outcome, _ message: String) -> Void

    /// The time to wait for surplus answers; later ones are not noticed.
    static let maximumSurplusWait = Duration.seconds(1)

    private var name: String { description["name"]?.stringValue ?? "" }

    /// The end of a call.
    private enum End {
        case result(JSON)
        case error(BridgeError)

        var text: String {
            switch self {
            case .result(let value): "the result \(TaskCheck.short(value))"
            case .error(let error): "\(error.code): \(error.message)"
            }
        }
    }

    private func pass(_ check: String, _ message: String) { report(name, check, .passed, message) }
    private func fail(_ check: String, _ message: String) { report(name, check, .failed, message) }
    private func skip(_ check: String, _ message: String) { report(name, check, .skipped, message) }

    /// The data of a task that answers.
    struct Answer {
        var task: String
        var options: JSON
        /// The duration of one call.
        var time: Duration
    }

    /// Checks the task.
    ///
    /// - Returns: `nil` if it was not called or does not answer.
    func run() async throws -> Answer? {
        let schema = description["options"] ?? true
        let sampler: SampleOptions
        do throws(JSONSchemaError) { sampler = try SampleOptions(schema) } catch {
            fail("options", "its schema of the options is not a JSON Schema: \(error)")
            return nil
        }
        try await checkForbidden(sampler)
        daemon.calledTask = name
        defer { daemon.calledTask = nil }
        guard daemon.isRunning, let options = chosen(sampler), let time = try await checkCall(options) else {
            return nil
        }
        _ = try await end(options, within: timeout)
        if try await checkCancel(options) {
            try await checkDeadline(options)
        } else {
            skip(
                "deadline",
                "the previous call has not been answered yet: its answer cannot be distinguished from this one's")
        }
        try await daemon.hearDroppedAnswers(within: timeout)
        await awaitSurplus()
        return Answer(task: name, options: options, time: time)
    }

    /// Waits for further surplus answers of a task that has sent some, so that they are not attributed to the next
    /// task.
    private func awaitSurplus() async {
        let end = ContinuousClock.now + timeout
        while daemon.surplusAnswers(of: name) > 0, ContinuousClock.now < end,
            await daemon.hasSurplusAnswers(beyond: daemon.surplusAnswers, within: min(timeout, Self.maximumSurplusWait))
        {}
    }

    private func chosen(_ sampler: SampleOptions) -> JSON? {
        switch options {
        case .these(let value):
            if let misfit = sampler.misfit(value) {
                fail(
                    "options",
                    "the options \(Self.short(value)) that were given for it do not fit its schema: \(misfit)")
                return nil
            }
            return value
        case .sample:
            if let value = sampler.allowed { return value }
            skip("call", "no options could be made from its schema: give some with --call '\(name)={…}'")
        case .none:
            skip("call", "it was not called, because a call can have any effect: use --call or --call-all")
        }
        return nil
    }

    // MARK: Calls

    private func end(_ options: JSON, within limit: Duration) async throws -> End {
        do throws(BridgeError) {
            return .result(try await daemon.client.callJSON(name, options, timeout: limit))
        } catch {
            try Task.checkCancellation()
            // A lost connection, which is not an answer, has this code, too.
            if error.code == .sessionClosed { throw error }
            return .error(error)
        }
    }

    /// Checks that the daemon or the task refuses options that the schema forbids.
    private func checkForbidden(_ sampler: SampleOptions) async throws {
        // Values that a lenient task might accept are sent only to a task that may be called.
        let forbidden = sampler.forbidden(isSubtle: options != .none)
        guard !forbidden.isEmpty else {
            return skip("options", "its schema allows any options, so that none can be wrong")
        }
        for (value, misfit) in forbidden {
            let end = try await end(value, within: timeout)
            if case .error(let error) = end, error.code == .optionsInvalid { continue }
            return fail(
                "options",
                "it was sent \(Self.short(value)), which its schema forbids (\(misfit)), and answered \(end.text) "
                    + "instead of options.invalid")
        }
        pass(
            "options",
            "it was sent \(forbidden.count) options that its schema forbids, and refused each with options.invalid")
    }

    /// Makes one call with progress.
    ///
    /// - Returns: Its duration; `nil` if it was not answered correctly.
    private func checkCall(_ options: JSON) async throws -> Duration? {
        let late = daemon.lateAnswers(of: name)
        let start = ContinuousClock.now
        let stream = try await daemon.client.callJSONWithProgress(name, options, timeout: timeout)
        var progress: [JSON] = []
        for await value in stream { progress.append(value) }
        let end: End
        do throws(BridgeError) { end = .result(try await stream.result) } catch {
            try Task.checkCancellation()
            if error.code == .sessionClosed { throw error }
            end = .error(error)
        }
        guard judge(end, options) else {
            if case .error(let error) = end, error.code == .callTimeout { await settle(late) }
            return nil
        }
        let time = ContinuousClock.now - start
        check("progress", progress, against: description["progress"] ?? .null)
        if case .result(let value) = end { check("result", [value], against: description["result"] ?? true) }
        return time
    }

    private func judge(_ end: End, _ options: JSON) -> Bool {
        let sent = "it was called with \(Self.short(options))"
        guard case .error(let error) = end else {
            pass("call", "\(sent), and answered")
            return true
        }
        switch error.code {
        case .callTimeout:
            fail(
                "call",
                "\(sent), and did not answer within \(HumanDuration.text(timeout)); if it works for longer than that, "
                    + "set --timeout")
        case .pluginCrashed: fail("call", "\(sent), and its process ended: \(error.message)")
        case .replyMissing, .replyInvalid, .pluginUnavailable, .internal, .optionsInvalid, .taskNotFound:
            fail("call", "\(sent), and the answer was \(error.code): \(error.message)")
        default:
            pass("call", "\(sent), and answered with the error \(error.code)")
            return true
        }
        return false
    }

    private func check(_ what: String, _ values: [JSON], against schema: JSON) {
        if what == "progress", schema == .null {
            if let first = values.first {
                fail(what, "it sent \(Self.short(first)), although its description declares no progress")
            }
            return
        }
        let checker: SampleOptions
        do throws(JSONSchemaError) { checker = try SampleOptions(schema) } catch {
            return fail(what, "its schema is not a JSON Schema: \(error)")
        }
        for value in values {
            if let misfit = checker.misfit(value) {
                return fail(what, "it answered \(Self.short(value)), which its schema forbids: \(misfit)")
            }
        }
        if !values.isEmpty { pass(what, "what it sent fits its schema") }
    }

    /// Waits for the late answer of an ended call, with which its work ends for the daemon.
    private func settle(_ late: Int) async {
        if await daemon.hasLateAnswers(late + 1, of: name, within: timeout) { return }
        fail(
            "cancel",
            "its call was ended at the deadline, and it did not report the end of its work within "
                + "\(HumanDuration.text(timeout))"
        )
    }

    // MARK: Cancelled calls

    /// Checks the cancellation of a call.
    ///
    /// - Returns: Whether no answer is pending.
    private func checkCancel(_ options: JSON) async throws -> Bool {
        let late = daemon.lateAnswers(of: name)
        let stream = try await daemon.client.callJSONWithProgress(name, options, timeout: timeout)
        let calls = try await daemon.client.callPages("bridge.calls", list: "calls")["calls"]?.arrayValue ?? []
        if let number = calls.first(where: { $0["task"]?.stringValue == name && $0["plugin"] == nil })?["call"] {
            // It may have ended meanwhile.
            _ = try? await daemon.client.callJSON("bridge.kill", ["call": number])
        }
        do throws(BridgeError) {
            _ = try await stream.result
            pass("cancel", "it had answered before its call could be cancelled")
            return true
        } catch {
            try Task.checkCancellation()
            if error.code == .sessionClosed { throw error }
            guard error.code == .callCancelled || error.code == .callTimeout else {
                pass("cancel", "it had answered before its call could be cancelled")
                return true
            }
            if await daemon.hasLateAnswers(late + 1, of: name, within: timeout) {
                pass("cancel", "its call was cancelled, and it ended its work")
                return true
            }
            fail(
                "cancel",
                "its call was cancelled, and it had not answered \(HumanDuration.text(timeout)) later; a "
                    + "task must also answer a cancelled call: until then its work counts as running")
            return false
        }
    }

    private func checkDeadline(_ options: JSON) async throws {
        let late = daemon.lateAnswers(of: name)
        switch try await end(options, within: .milliseconds(1)) {
        case .error(let error) where error.code == .callTimeout:
            if await daemon.hasLateAnswers(late + 1, of: name, within: timeout) {
                return pass("deadline", "its call was ended after a millisecond, and it ended its work")
            }
            fail(
                "deadline",
                "its call was ended after a millisecond, and it had not answered \(HumanDuration.text(timeout)) "
                    + "later; its work still counts as running")
        case .result, .error: pass("deadline", "it answered within a millisecond")
        }
    }

    /// Returns a value shortened to the length that a sentence allows.
    nonisolated static func short(_ value: JSON) -> String { PlainText.cut(PlainText.line(value.text), to: 120) }
}
