"""Seeds with many events between clients, plugins, streams and the clock."""

from .common import RECORD_END, Seeds, compact

SCHEMA = {
    "type": "object", "properties": {"a": {"type": "integer"}, "b": {"$ref": "#/$defs/x"}}, "required": ["a"],
    "$defs": {"x": {"anyOf": [{"enum": [1, None]}, {"pattern": "^a"}, {"items": {"minimum": 0}, "maxItems": 2}]}},
}
MANIFEST = {
    "name": "worker", "version": "1.0",
    "tasks": [
        {"name": "work", "summary": "Works.", "timeout": None, "options": SCHEMA, "permission": "p", "private": True},
        {"name": "one", "summary": "One.", "timeout": 50, "concurrency": 1, "result": True, "progress": {}},
    ],
    "interceptors": [{"name": "i", "summary": "s", "tasks": ["one", "conf*"], "failure": "pass"}],
    "events": [{"name": "e", "summary": "s"}],
    "launchWorkers": [{"name": "l", "phase": "plugins", "after": ["x"], "required": False}],
    "configuration": SCHEMA, "reloadable": True, "sessions": True, "ping": "always",
}


def of_plays(seeds: Seeds) -> None:
    """Adds seeds with many events between clients, plugin and clock."""
    register = b'1{"task":"bridge.register","options":{"tasks":["conformance.x"]},"callbackId":"r"}'
    attach = b'2{"task":"bridge.stream.attach","options":{"stream":"\x1c","side":"?"},"callbackId":9}'
    call = b'2{"task":"conformance.x","callbackId":"c","progress":true,"timeout":500}'
    seeds["runtime"] += [RECORD_END.join([limits] + play) for limits in (b"\x00", b"\x0f") for play in [
        [register, call, b'1{"callbackId":\x1d,"progress":1,"sequence":0}', b'1{"callbackId":\x1d,"result":[]}'],
        [register, call, b'1{"callbackId":\x1d,"result":1', b"Q", b"t600"],
        [register, call, b"A", b"@", b"D", b"d", call],
        [b'0{"jsonrpc":"2.0","method":"bridge.register","params":{"tasks":["conformance.x"]},"id":1}', call,
         b'0{"jsonrpc":"2.0","id":\x1d,"error":{"code":-32000,"message":"m","data":{"code":"x"}}}'],
        [b'0{"handlerName":"bridge.register","data":{"tasks":["conformance.x"]},"callbackId":"1"}', call,
         b'0{"responseId":"\x1d","responseData":{"error":{"code":"a","message":"b"}}}'],
        [b'0{"task":"guarded","callbackId":1,"options":{"a":1}}', b'=\x00{"options":{"b":2}}', b'=\x00{"pass":true}'],
        [b'0{"task":"guarded","callbackId":1}', b'=\x00{"task":"checked","options":{"a":1}}', b'=\x00{"result":2}'],
        [b'0{"task":"guarded.one","callbackId":1}', b'=\x00{"error":{"code":"a","message":"b"}}', b"!\x00plugin.x"],
        [b'0[{"jsonrpc":"2.0","method":"work","id":1},{"jsonrpc":"2.0","method":"one","id":2}]',
         b'0{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}', b"=\x00[1]", b"=\x01[2]"],
        [b'0{"task":"one","callbackId":1}', b'0{"task":"one","callbackId":2}', b"x", b"y", b"X",
         b'0{"task":"one","callbackId":3}', b"y"],
        [b'0{"task":"work","callbackId":1}', b'>\x00one {"a":1}', b'>\x00conformance.x', b"=\x00{}", b"=\x01{}"],
        [b'0{"task":"bridge.monitor","options":{},"callbackId":"m"}', b'3{"task":"secret","options":{"password":"x"},'
         b'"callbackId":1}', b'3{"task":"bridge.subscribe","options":{"events":["*"]},"callbackId":2}',
         b'*work.done {"a":\n1}', b"s", b'*work.done "again"', b'*work.done "again"', b"c"],
        [b'2{"task":"bridge.stream.new","options":{"side":"read"},"callbackId":1}',
         b'3{"task":"bridge.stream.write","options":{"stream":"\x1c","base64":"aGVsbG8=","end":true},"callbackId":1}',
         b'2{"task":"bridge.stream.read","options":{"stream":"\x1c","bytes":2},"callbackId":2}', b"r",
         b'2{"task":"bridge.stream.close","options":{"stream":"\x1c","error":{"code":"a","message":"b"}},'
         b'"callbackId":3}', b"t60000"],
        [b'2{"task":"work","callbackId":1}', b'2{"task":"bridge.stream.new","callbackId":2}',
         b'>\x00bridge.stream.read {"stream":"\x1c"}', b'2{"task":"bridge.stream.write","options":{"stream":"\x1c",'
         b'"base64":"AAAA"},"callbackId":3}', b"=\x00{}", b'>\x01bridge.stream.read {"stream":"\x1c"}', b"R", b"d"],
        [b'2{"task":"bridge.stream.new","callbackId":1}', attach.replace(b"?", b"write"),
         b'3{"task":"bridge.stream.read","options":{"stream":"\x1c"},"callbackId":2}', b"|\x00hello",
         b'2{"task":"bridge.stream.close","options":{"stream":"\x1c","bytes":5},"callbackId":3}', b"|\x00"],
        [b'2{"task":"bridge.stream.new","callbackId":1}', attach.replace(b"?", b"write"),
         b'2{"task":"bridge.stream.close","options":{"stream":"\x1c","side":"write","bytes":5},"callbackId":2}',
         attach.replace(b"?", b"read"), b'2{"task":"bridge.stream.close","options":{"stream":"\x1c","side":"read",'
         b'"bytes":5},"callbackId":3}'],
        [b'3{"task":"bridge.stream.new","options":{"side":"read"},"callbackId":1}',
         b"3" + attach[1:].replace(b"?", b"read"),
         b'2{"task":"bridge.stream.write","options":{"stream":"\x1c","base64":"aGVsbG8="},"callbackId":1}', b"(\x00a",
         b")\x00", b"S"],
        [b'0{"task":"bridge.sessions.close","options":{"session":2},"callbackId":1}',
         b'1{"task":"closeWeb","options":{},"callbackId":1}', b'2{"task":"slow","callbackId":9}', b"p", b"t90000"],
    ]]
    manifest = compact(MANIFEST).encode()
    seeds["process"] += [RECORD_END.join([start] + play) for start in (b"", manifest) for play in [
        [b'0{"task":"work","options":{"a":1},"callbackId":1,"progress":true}',
         b'<{"callbackId":\x1d,"progress":{"a":1},'
         b'"sequence":0}', b'<{"callbackId":\x1d,"result":{"ok":true}}', b'<{"callbackId":\x1d,"result":2}'],
        [b'0{"task":"one","callbackId":1}', b'<{"callbackId":\x1d,"result":{"pass":true}}', b'<{"task":"bridge.ping",'
         b'"callbackId":"a","caller":\x1d}', b'<{"callbackId":\x1d,"error":{"code":"a","message":"b"}}'],
        [b'1{"task":"slow","callbackId":1}', b"x", b'1{"task":"slow","callbackId":2}', b'1{"cancel":2}', b"t999999"],
        [b'<{"task":"plugin.log","options":{"level":"warning","message":"m","call":1}}',
         b'<{"task":"plugin.publish","options":{"event":"e","data":[1],"sessions":[1,2],"direct":true}}',
         b'<{"task":"plugin.metrics","options":{"metrics":[{"name":"a_total","kind":"counter","unit":"bytes",'
         b'"help":"h","value":1.5}]}}', b'0{"task":"bridge.metrics","callbackId":1}'],
        [b'i{"interceptors":{"i":["work","w*"]}}', b'0{"task":"work","callbackId":1}',
         b'<{"callbackId":\x1d,"result":{"task":"one","options":{"a":' + b"[" * 124 + b"]" * 124 + b"}}}"],
        [b'0{"task":"bridge.describe","options":{"task":"work"},"callbackId":1}', b'<{"callbackId":\x1d,"result":'
         b'{"work":{"options":{"type":"object"}}}}'],
        [b',{"callbackId":1,"res', b',ult":1}\r\n', b"<no message", b"<[]", b'<{"cancel":"a"}'],
    ]]


def of_streams(seeds: Seeds) -> None:
    """Adds seeds of the streams' state; Fuzz/Targets/Streams.swift describes the steps."""
    attach_writer, attach_reader, write, move, read, close, leave, end, ready = 0, 1, 2, 10, 18, 26, 27, 28, 29
    for pipes in range(4):
        first = [pipes, *([attach_writer] if pipes & 1 else []), *([attach_reader] if pipes & 2 else [])]
        round_ = [write, 1, 20, move, 9, 20, read, 15, 40]
        seeds["streams"] += [bytes(first + round_ * 6 + last) for last in [
            [close, 1, 1, 0], [close, 1, 1, 1] + round_ * 3 + [close, 0], [leave, 0, 0] + round_,
            [leave, 0, 1] + round_,
            [end, 0] + round_, [ready, 1] + round_ * 2 + [ready, 0], [30, 0] * 3 + round_]]
