"""Seeds for the target "cost": messages that were too expensive once, and messages that must stay cheap."""

from .common import RECORD_END, Seeds


def repeated(count: int, unit: str, comma: bool = True) -> str:
    """Returns that number of copies of a text, as the target "cost" expands them; N in it is the copy's number."""
    return f"\x1f{0 if comma else ''}{count};{unit.replace('N', chr(0x1c))}\x1f"


def of_costs(seeds: Seeds) -> None:
    """Adds the seeds for the target "cost"."""
    def call(task: str, options: str) -> str:
        return f'0{{"task":"{task}","options":{options},"callbackId":1}}'

    def checked(schema: str, options: str) -> list[str]:
        description = f'{{"tasks":["s"],"descriptions":{{"s":{{"options":{schema}}}}}}}'
        return ["1" + call("bridge.register", description)[1:], call("s", options)]

    zeros = "[" + repeated(400_000, "0") + "]"
    publish = '{"task":"bridge.publish","options":{"event":"p.1"}}'
    sequences = [
        [call("bridge.subscribe", '{"events":[' + repeated(149_000, '"N"') + "]}")],
        [call("bridge.unsubscribe", '{"events":[' + repeated(110_000, '"N"') + "]}")],
        checked('{"anyOf":[' + repeated(3000, '{"enum":["N"]}') + ',{"type":"null"}]}',
                "[" + repeated(200_000, "0") + "]"),
        checked('{"items":{"type":"object","properties":{' + repeated(5000, '"N":{}') + "}}}",
                "[" + repeated(300_000, "{}") + ",0]"),
        checked('{"allOf":[' + repeated(2500, '{"maxLength":2000000}') + ',{"type":"null"}]}',
                '"' + repeated(500_000, "\u00e9", comma=False) + '"'),
        # Each of these is answered by a long page: as many as are handled in a second or two.
        ["0[" + repeated(500, '{"jsonrpc":"2.0","method":"rpc.discover","id":1}') + "]"],
        ["0[" + repeated(1000, '{"jsonrpc":"2.0","method":"bridge.describe","id":1}') + "]"],
        ["0[" + repeated(5000, '{"task":"bridge.tasks","callbackId":1}') + "]"],
        ["0[" + repeated(20_000, publish) + "]"],
        [call("bridge.register",
              '{"tasks":[' + repeated(200, '"s"') + '],"descriptions":{"s":{"options":{"properties":{'
              + repeated(5000, '"N":{}') + "}}}}}")],
        [call("bridge.publish", '{"event":"crowd","data":"' + repeated(1_000_000, "x", comma=False) + '"}')],
        [call("bridge.publish", '{"event":"crowd","data":"' + repeated(90_000, "x", comma=False) + '"}')],
        ["0[" + repeated(1000, '{"task":"bridge.publish","options":{"event":"crowd"}}') + "]"],
        ["@", "A", "B"] * 8,
        [call("bridge.subscribe", '{"events":[' + repeated(256, '"r.N*"') + "]}")],
        [call("Echo", '{"' + repeated(20_000, "-", comma=False) + '":1}')],
        [call("bridge.register", '{"tasks":[' + repeated(256, '"c.N"') + "]}"),
         call("bridge.unregister", '{"tasks":[' + repeated(256, '"c.N"') + "]}")] * 4,
        ['0{"url":"jxaction://Echo?' + repeated(170_000, "N&", comma=False) + '","callbackId":1}'],
        ['0{"url":"jxaction://Echo?' + repeated(1024, "x" * 58 + "N&", comma=False) + '","callbackId":1}'],
        [call("closeWeb", '{"info":' + zeros + "}")], [call("bridge.cancel", '{"callbackId":' + zeros + "}")],
        [call("login", '{"user":' + zeros + "}")],
        [call("checked", '{"a":' + zeros + "}")],
        ['0{"jsonrpc":"2.0","method":"checked","params":' + zeros + ',"id":1}'],
        [call("bridge.publish", '{"event":"x","data":[' + repeated(300_000, "{}") + "]}")],
        [call("bridge.hello", '{"client":"' + repeated(900_000, "x", comma=False) + '"}')],
        [call("bridge.explain", '{"task":"' + repeated(900_000, "x", comma=False) + '"}')],
        [call("bridge.sessions", "{}"), call("bridge.tasks", "{}"), call("bridge.status", "{}"),
         call("bridge.metrics", "{}"), call("bridge.describe", "{}"), call("bridge.calls", "{}")],
        ["1" + call("bridge.register", '{"tasks":["held"]}')[1:],
         "0[" + repeated(1024, '{"task":"held","callbackId":"N"}') + "]", "A"],
        # Messages that must stay cheap.
        [call("Echo", '"' + repeated(1_000_000, "x", comma=False) + '"')], [call("Echo", zeros)],
        ["0[" + repeated(15_000, '{"task":"Echo","options":1,"callbackId":"N"}') + "]"],
        ["0" + repeated(1_100_000, "x", comma=False), "1{", "2[]"],
    ]
    for sequence in sequences:
        seeds["cost"].append(RECORD_END.join(step.encode() for step in sequence))
