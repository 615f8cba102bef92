internal import BridgeClient
internal import BridgeJSON
internal import WebContainer
internal import WebKitViews

struct EvaluateOptions: Codable, Sendable {
    var view: Int?
    var script: String
}

struct ScreenshotOptions: Codable, Sendable {
    enum Region: String, Codable, Sendable {
        case visible, full
    }

    var view: Int?
    var region: Region?
}

struct Screenshot: Encodable, Sendable {
    var image: ByteStream
}

extension ControlPlane {
    func provideScripts() async throws(BridgeError) {
        try await provide("web.evaluate", "Runs the body of an async function in a page, and returns its result.") {
            (plane, options: EvaluateOptions, call) in
            let result = try await plane.evaluate(options, call)
            return ["result": result] as JSON
        }
        try await provide("web.screenshot", "Returns a picture of a page, as PNG.") {
            (plane, options: ScreenshotOptions, call) in
            try await plane.screenshot(options, call)
        }
    }

    private func evaluate(_ options: EvaluateOptions, _ call: IncomingCall) async throws -> JSON {
        let page = try page(options.view, call)
        do throws(ScriptFailure) {
            guard let text = try await page.view.evaluate(options.script) else { return .null }
            return (try? JSON(parsing: text)) ?? JSON.null
        } catch {
            throw BridgeError(
                "script.failed", error.message,
                data: [
                    "name": error.name.map { JSON.string($0) } ?? JSON.null,
                    "line": .number(JSONNumber(Int64(error.line))),
                    "column": .number(JSONNumber(Int64(error.column))),
                ])
        }
    }

    private func screenshot(_ options: ScreenshotOptions, _ call: IncomingCall) async throws -> Screenshot {
        let page = try page(options.view, call)
        let bytes: [UInt8]
        do throws(EngineError) {
            bytes = try await page.view.snapshot(full: options.region == .full)
        } catch {
            throw BridgeError("screenshot.failed", "no picture was taken: \(error)")
        }
        let stream = try await bridge.makeStream(type: "image/png", totalBytes: bytes.count, for: call)
        // The caller reads it after it has the result.
        Task { try? await stream.write { out in try await out.write(bytes) } }
        return Screenshot(image: stream)
    }
}
