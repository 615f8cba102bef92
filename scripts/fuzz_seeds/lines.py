"""Seeds of single lines: forms that the conformance vectors lack, and values at a limit."""

from .common import RECORD_END, Seeds

# Forms that the vectors lack, and values at a limit.
LINES = [
    '{"url":"jxaction://Echo/a?method=aaa&x=%E5%BC%B9+#top","callbackId":"c1"}',
    '{"url":"JXACTION://work?a=%zz&a=1","callbackId":"c1"}',
    '{"funName":"Echo","value":{"a":[1e400,-0,0.1e-7]},"callbackId":"f","timeout":5,"session":2}',
    '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":null}}',
    '{"jsonrpc":"2.0","method":"work","id":null}',
    '[{"jsonrpc":"2.0","method":"work","params":[1,{"a":"b"}],"id":1},7,{"jsonrpc":"2.0","method":"one"},[]]',
    '{"callbackId":"-1","pluginId":"bridge","methodName":"ping","options":{}}',
    '{"callbackId":"7","pluginId":"p","methodName":"m","save":true,"success":true,"data":1}',
    '{"handlerName":"work","data":{"a":"\\ud83d\\ude00"},"callbackId":"cb_1"}',
    '{"task":"Echo","options":"\\ud800","callbackId":"half"}',
    '{"task":"Echo","options":"\\udc00\\ud800","callbackId":"half"}',
    '{"task":"Echo","task":"Echo","callbackId":"twice"}',
    '{"task":"Echo","options":{"a":1,"a":2},"callbackId":"a"}',
    '{"task":"Echo","callbackId":' + "9" * 128 + "}",
    '{"task":"Echo","callbackId":"' + "\\u0061" * 128 + '"}',
    '{"task":"Echo","timeout":99999999999999999999,"callbackId":-0}',
    '{"task":"Echo","options":-1234567890.123456789e-987654321,"callbackId":18446744073709551616}',
    '{"task":"Echo","options":' + "[" * 127 + "]" * 127 + ',"callbackId":1}',
    '{"task":"Echo","options":' + '{"a":' * 128 + "1" + "}" * 128 + ',"callbackId":1}',
    "[" * 140,
    '{"task":"Echo","callbackId":"x",}\r\n\r\n\n{"cancel":"x"}\r',
    '{"task":"work","callbackId":"s","session":1,"progress":true,"idempotencyKey":[]}',
    '\xef\xbb\xbf{"task":"Echo"}',
    '{"callbackId":1,"result":1,"error":{"code":"a","message":"b"}}',
    '{"event":"a","data":1}',
]


def of_lines(seeds: Seeds) -> None:
    """Adds seeds of the lines above."""
    for number, line in enumerate(LINES):
        text = line.encode("utf-8", "surrogatepass")
        seeds["messages"].append(bytes([number % 4, number % 7, 1, 64]) + text + b"\n" + text)
        record = b"0" + text
        seeds["runtime"].append(RECORD_END.join(
            [bytes([number % 16]), record, b"t10", record, b"+\x00{\"p\":1}", b"=\x00{\"a\":[1,\n2]}", b"=\x00no"]))
        seeds["process"].append(RECORD_END.join([b"", b"<" + text, b"0" + text, b"<" + text]))
