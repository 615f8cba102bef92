/// The documents that are shown in place of a page.
enum ErrorPage {
    /// The policy of a copy: it may only be displayed.
    private static let policy = """
        default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; \
        base-uri 'none'
        """

    /// Returns the copy of a page, below a line that marks it as a copy. The policy comes first, so it applies to the
    /// copy whatever that contains.
    static func kept(_ page: KeptPage, _ uri: String) -> String {
        """
        <!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="\(policy)">
        <div style="all: initial; display: block; font: 16px sans-serif; padding: 8px; background: #fe8; color: #000">
        There is no connection. This page was shown on \(escaped(page.time)).
        <a id="retry" style="color: #00c" href="\(escaped(uri))">Try again</a></div>
        \(page.html)
        """
    }

    static func text(_ title: String, _ message: String, _ uri: String) -> String {
        """
        <!doctype html><meta charset="utf-8"><title>\(escaped(title))</title>
        <style>body { font: 1.2em sans-serif; margin: 20vh auto; max-width: 30em; overflow-wrap: anywhere; }</style>
        <h1>\(escaped(title))</h1><p>\(escaped(message))</p><p><a id="retry" href="\(escaped(uri))">Try again</a></p>
        """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
