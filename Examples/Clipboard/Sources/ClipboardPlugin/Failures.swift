import TaskKit

/// The errors of the clipboard tasks. The codes are stable, for programs; the messages state what the user can do.
enum Failure {
    static func noDisplay() -> BridgeError {
        BridgeError(
            "clipboard.unavailable",
            "there is no X display: name it in the daemon's configuration, as [plugins.clipboard] display = \":0\"")
    }

    static func noTool(_ tool: String, _ reason: String) -> BridgeError {
        BridgeError(
            "clipboard.unavailable",
            "\(tool) cannot be started (\(reason)): install it (apt install xclip), or name its path in the daemon's"
                + " configuration, as [plugins.clipboard] tool = \"/usr/bin/xclip\"")
    }

    static func refused(display: String, _ output: String) -> BridgeError {
        BridgeError(
            "clipboard.unavailable",
            "the clipboard of display \(display) cannot be used: \(output.isEmpty ? "its tool failed" : output); "
                + "is that display running, and may the daemon's user open it (xauthority)?",
            data: ["display": .string(display)])
    }

    static func noAnswer(after timeout: Duration) -> BridgeError {
        BridgeError(
            "clipboard.no_answer",
            "the program that owns the clipboard did not answer within \(timeout): copy the text again, or close it",
            isTransient: true)
    }

    static func empty(_ selection: Selection) -> BridgeError {
        BridgeError("clipboard.empty", "nothing is in the selection \(selection.rawValue)")
    }

    static func notText(_ selection: Selection, targets: [String]) -> BridgeError {
        BridgeError(
            "clipboard.not_text",
            "the selection \(selection.rawValue) holds something, but no text in UTF-8: copy a text, and read again",
            data: ["targets": .array(targets.map(JSON.string))])
    }

    static func tooLarge(_ textBytes: Int) -> BridgeError {
        BridgeError(
            "clipboard.too_large",
            "the text has more than \(textBytes) bytes of UTF-8, which is the bound: take less of it, or raise "
                + "text_bytes in [plugins.clipboard] of the daemon's configuration",
            data: ["maximumBytes": .number(JSONNumber(textBytes))])
    }
}
