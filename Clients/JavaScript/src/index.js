// The library as an ES module, for pages and for Node. Pages that need a plain script load dist/trestle-bridge.js.

import { Bridge } from "./bridge.js";
import { isNode, offerSockets } from "./carriers/choose.js";
import { lazySocketCarrier } from "./carriers/lazySocket.js";
import { sharedBridge } from "./shared.js";

offerSockets(lazySocketCarrier);

export { Bridge } from "./bridge.js";
export { connect } from "./connect.js";
export { BridgeError } from "./errors.js";
export { stream } from "./streamValues.js";

/** The shared bridge of a page or a program. It uses the carrier of the environment and opens at its first use. */
export const WebBridge = isNode() ? new Bridge() : sharedBridge();
