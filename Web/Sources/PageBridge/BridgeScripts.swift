internal import BridgeJSON
public import WebProfiles

/// The scripts of the bridge, with the dialects of a profile.
public struct BridgeScripts: Sendable, Hashable {
    /// The placeholder of the dialects in both scripts.
    private static let place = "/* dialects */"

    /// The dialects that pages can use besides `WebBridge`.
    public var dialects: Set<PageDialect>
    /// The schemes of links that are treated as calls.
    public var urlSchemes: [String]
    /// The objects and functions that are defined for pages.
    public var exports: [PageExport]
    /// The handlers that clients have added.
    public var handlers: [PageHandler] = []

    /// Creates the scripts.
    ///
    /// - Parameters:
    ///   - dialects: The dialects that pages can use besides `WebBridge`.
    ///   - urlSchemes: The schemes of links that are treated as calls, if ``PageDialect/url`` is among the dialects.
    ///   - exports: The objects and functions that are defined for pages.
    public init(_ dialects: Set<PageDialect> = [], urlSchemes: [String] = [], exports: [PageExport] = []) {
        self.dialects = dialects
        self.urlSchemes = urlSchemes
        self.exports = exports
    }

    /// The porter script, for the isolated world, at the start of documents, only in the top frame.
    public var porter: String {
        let calls = dialects.contains(.url) ? [Self.block(PackageResources.urlCalls_js, ["schemes": schemes])] : []
        return Self.script(PackageResources.porter_js, calls)
    }

    /// The shim script, for the page's world, in the same documents.
    public var shim: String {
        var blocks = [PackageResources.webBridge_js, PackageResources.packageBodies_js].map { Self.block($0) }
        if dialects.contains(.webViewJavascriptBridge) {
            blocks.append(Self.block(PackageResources.webViewJavascriptBridge_js))
        }
        if dialects.contains(.capacitor) { blocks.append(Self.block(PackageResources.capacitor_js)) }
        if dialects.contains(.cordova) { blocks.append(Self.block(PackageResources.cordova_js)) }
        if dialects.contains(.url) { blocks.append(Self.block(PackageResources.functions_js)) }
        if !exports.isEmpty { blocks.append(Self.block(PackageResources.exports_js, ["exports": exportList])) }
        blocks.append(Self.block(PackageResources.handlers_js, ["handlers": PageHandler.json(handlers)]))
        // The last block: with it every name is a handler.
        if dialects.contains(.messageHandlers) { blocks.append(Self.block(PackageResources.messageHandlers_js)) }
        return Self.script(PackageResources.shim_js, blocks)
    }

    /// The names of the handlers that pages already have.
    public var ownHandlers: Set<String> { dialects.contains(.cordova) ? ["bridge", "cordova"] : ["bridge"] }

    private var schemes: JSON { .array(urlSchemes.map { .string($0.lowercased()) }) }

    private var exportList: JSON {
        .array(
            exports.map { export in
                var members: JSONObject = ["name": .string(export.name)]
                members["task"] = export.task.map { .string($0) }
                var methods = JSONObject()
                for method in export.methods { methods[method.name] = .string(method.task) }
                members["methods"] = .object(methods)
                return .object(members)
            })
    }

    /// Returns the block of a dialect, preceded by constants. JSON is valid JavaScript.
    private static func block(_ source: [UInt8], _ constants: [String: JSON] = [:]) -> String {
        let lines = constants.map { "const \($0.key) = \($0.value.text);\n" }.joined()
        return "{\n\(lines)\(String(decoding: source, as: UTF8.self))}\n"
    }

    private static func script(_ source: [UInt8], _ blocks: [String]) -> String {
        String(decoding: source, as: UTF8.self).replacing(place, with: blocks.joined(), maxReplacements: 1)
    }
}
