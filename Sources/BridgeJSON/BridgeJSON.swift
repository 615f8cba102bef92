// BridgeJSON: JSON as values. Parsing and writing, typed coding, schemas, and the error object that both ends share.
