// Tests of TOMLDocument.
