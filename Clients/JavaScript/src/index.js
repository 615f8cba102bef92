// The library as an ES module, in pages and in Node. Pages that want a plain script load dist/trestle-bridge.js.

import { Bridge } from "./bridge.js";
import { isNode, offerSockets } from "./carriers/choose.js";
import { lazySocketCarrier } from "./carriers/lazySocket.js";
import { sharedBridge } from "./shared.js";

offerSockets(lazySocketCarrier);

export { Bridge } from "./bridge.js";
export { connect } from "./connect.js";
export { BridgeError } from "./errors.js";
export { stream } from "./streamValues.js";

/** The bridge that a page or a program shares: over what its surroundings offer, opened with its first use. */
export const WebBridge = isNode() ? new Bridge() : sharedBridge();
